//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// ownGroup starts a command in a separate process group.
func ownGroup(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// terminate asks the process group of a command to end. An error means that it has ended.
func terminate(c *exec.Cmd) { _ = syscall.Kill(-c.Process.Pid, syscall.SIGTERM) }

// kill ends the process group of a command. An error means that it has ended.
func kill(c *exec.Cmd) { _ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }

// isAlive reports whether a process of the group exists.
func isAlive(c *exec.Cmd) bool { return syscall.Kill(-c.Process.Pid, 0) == nil }
