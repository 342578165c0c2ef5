// Package doctor looks whether a target can be tested, and what its configuration lacks, before a run. It reads a little and
// creates nothing.
package doctor
