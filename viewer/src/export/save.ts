// Hands a file to whoever looks: a download that needs no network.

export function save(name: string, content: Blob | string, kind: string): void {
  const blob = typeof content === "string" ? new Blob([content], { type: kind }) : content;
  const url = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  // The browser needs the address until it has read the blob.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/** A file name of plain letters: fileName(["smollm2", "layer 16"], "png") is "smollm2-layer-16.png". */
export function fileName(parts: readonly string[], suffix: string): string {
  const plain = parts
    .map((part) =>
      part
        .normalize("NFKD")
        .replace(/[^\w.]+/g, "-")
        .replace(/^[-.]+|[-.]+$/g, ""),
    )
    .filter(Boolean);
  return `${plain.join("-").slice(0, 120) || "map"}.${suffix}`;
}
