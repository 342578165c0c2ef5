package outfile

// openFlags is 0 on Windows, which has neither FIFOs in folders nor a flag that refuses links.
const openFlags = 0
