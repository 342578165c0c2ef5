// Package doctor checks before a run whether a target can be tested and which keys of its configuration are missing. It sends a
// few reading requests and creates nothing.
package doctor
