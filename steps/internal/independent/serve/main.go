// Command serve serves the independent server, and writes the configuration of a test of it:
//
//	go run ./steps/internal/independent/serve FILE
//
// It serves until its standard input ends.
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/agentconform/agentconform/steps/internal/independent"
	"github.com/agentconform/agentconform/steps/internal/independent/vendor"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: serve FILE: the file gets the configuration")
		os.Exit(2)
	}
	if err := serve(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve(file string) error {
	s, err := independent.Start(independent.Options{})
	if err != nil {
		return err
	}
	defer s.Close()
	cfg, err := vendor.Configuration(s)
	if err != nil {
		return err
	}
	text, err := cfg.YAML()
	if err != nil {
		return err
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return fmt.Errorf("writing the configuration: %w", err)
	}
	fmt.Println("ready", s.ControlURL)
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}
