// Package config reads what a run needs to know of its target: from a YAML file, from environment variables and
// from flags, where later ones override earlier ones.
//
// A configuration is never read in part. An unknown key, a value of the wrong type or an invalid URL is an [*Error] with the
// key, its place and the remedy.
package config
