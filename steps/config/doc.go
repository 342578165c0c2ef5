// Package config reads what a run needs to know of its target: from a YAML file, from environment variables and
// from flags, in that order of rising strength.
//
// A configuration is never half-read. Whatever is wrong, an unknown key, a value of the wrong type, an address
// that is none, ends in an [*Error] that names the key, where it came from and the remedy.
package config
