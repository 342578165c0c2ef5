//go:build !windows

package outfile

import "syscall"

// openFlags make the program refuse a link, and keep it from waiting for the reader of a FIFO.
const openFlags = syscall.O_NOFOLLOW | syscall.O_NONBLOCK
