// Grids of numbers from JSON, where null stands for what is absent.

/** Rows of numbers as one array of `width` a row; NaN where a number is absent. */
export function numbersOf(rows: (number | null)[][], width: number): Float32Array {
  const numbers = new Float32Array(rows.length * width).fill(NaN);
  rows.forEach((row, place) => row.forEach((number, column) => {
    if (number !== null) numbers[place * width + column] = number;
  }));
  return numbers;
}
