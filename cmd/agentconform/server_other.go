//go:build !unix

package main

import "os/exec"

// ownGroup does nothing, because this system has no process groups.
func ownGroup(*exec.Cmd) {}

// terminate kills the process, because this system has no signal that asks it to end.
func terminate(c *exec.Cmd) { kill(c) }

// kill ends the process. An error means that it has ended.
func kill(c *exec.Cmd) { _ = c.Process.Kill() }

// isAlive returns false, so that nothing waits after terminate.
func isAlive(*exec.Cmd) bool { return false }
