// Which way a text runs, by its first letter that has a direction.

const RIGHT_TO_LEFT =
  /^[^\p{L}]*[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}]/u;

export function direction(text: string): "ltr" | "rtl" {
  return RIGHT_TO_LEFT.test(text.slice(0, 1000)) ? "rtl" : "ltr";
}
