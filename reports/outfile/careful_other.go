//go:build !windows

package outfile

import "syscall"

// careful opens no link, and waits for no reader of a FIFO.
const careful = syscall.O_NOFOLLOW | syscall.O_NONBLOCK
