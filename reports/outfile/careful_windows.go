package outfile

// careful has nothing to add on Windows, which has neither FIFOs in folders nor a way to refuse links.
const careful = 0
