// Attention in JavaScript, with no library.
//
// node attention.js        works "The cat sat it" and prints the weights and the blend
// node attention.js -      reads calculations from standard input (see `main`) and prints the same for each

// Multiply number by number, and add up.
function dotProduct(a, b) {
  return a.reduce((sum, x, i) => sum + x * b[i], 0);
}

// Scores into weights that add up to 1. A word that may not be looked at gets 0.
function softmax(xs, allowed = xs.map(() => true)) {
  const seen = xs.filter((_, i) => allowed[i]);
  if (seen.length === 0) return xs.map(() => NaN); // it may look at nothing: there are no weights
  const largest = Math.max(...seen); // taken off every score, so that e^score cannot overflow
  const exponentials = xs.map((x, i) => (allowed[i] ? Math.exp(x - largest) : 0));
  const total = exponentials.reduce((sum, e) => sum + e, 0);
  return exponentials.map((e) => e / total);
}

// Each value counts as much as its weight says.
function weightedAverage(weights, values) {
  return values[0].map((_, column) => dotProduct(weights, values.map((value) => value[column])));
}

// The four steps for one query: compare, scale, softmax, blend.
function attend(query, keys, values, allowed, scale = 1 / Math.sqrt(query.length)) {
  const products = keys.map((key) => dotProduct(query, key));
  const scores = products.map((product) => product * scale);
  const weights = softmax(scores, allowed);
  return { weights, output: weightedAverage(weights, values) };
}

// ---- running it ----

function main() {
  if (process.argv[2] !== "-") {
    const keys = [[0.1, 0.0], [1.0, 0.8], [0.2, 0.9], [0.6, 0.5]];
    const values = [[0.1, 0.1], [1.0, 0.2], [0.3, 0.9], [0.2, 0.3]];
    const { weights, output } = attend([1.0, 0.6], keys, values);
    console.log("weights", ...weights.map((w) => w.toFixed(2)));
    console.log("output ", ...output.map((x) => x.toFixed(2)));
    return;
  }
  // How many queries and keys, how long a key and a value is, what products are multiplied by; then all numbers:
  // queries, keys, values, and for each query and key 1 if it may look there. As many calculations as there are.
  const numbers = require("fs").readFileSync(0, "utf8").trim().split(/\s+/).map(Number);
  const rows = (howMany, long) => Array.from({ length: howMany }, () => numbers.splice(0, long));
  while (numbers.length > 0) {
    const [queries, count, dim, width, scale] = numbers.splice(0, 5);
    const asking = rows(queries, dim);
    const keys = rows(count, dim);
    const values = rows(count, width);
    for (const query of asking) {
      const allowed = numbers.splice(0, count).map((one) => one === 1);
      const { weights, output } = attend(query, keys, values, allowed, scale);
      console.log(...weights.map(String));
      console.log(...output.map(String));
    }
  }
}

main();
