"""Speed and memory as ratios to the plain forward pass, measured side by side in one run."""
