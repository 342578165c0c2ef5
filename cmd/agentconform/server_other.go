//go:build !unix

package main

import "os/exec"

// ownGroup does nothing: this system has no process groups.
func ownGroup(*exec.Cmd) {}

// terminate kills the process: this system has no signal that asks it to end.
func terminate(c *exec.Cmd) { kill(c) }

// kill ends the process. An error means that it has ended.
func kill(c *exec.Cmd) { _ = c.Process.Kill() }

// isAlive reports false: after terminate, nothing is waited for.
func isAlive(*exec.Cmd) bool { return false }
