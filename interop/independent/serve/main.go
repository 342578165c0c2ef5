// Command serve serves the independent server until its standard input ends. It writes the configuration of a test run to
// FILE:
//
//	go run ./interop/independent/serve [-edition self-hosted] FILE
package main

import (
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/agentconform/agentconform/interop/independent"
	"github.com/agentconform/agentconform/steps/config"
)

func main() {
	edition := flag.String("edition", config.Cloud, "cloud or self-hosted")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: serve [-edition self-hosted] FILE")
		os.Exit(2)
	}
	if err := run(*edition, flag.Arg(0)); err != nil {
		fmt.Fprintln(os.Stderr, "serve:", err)
		os.Exit(1)
	}
}

// run serves the server until the standard input ends.
func run(edition, file string) error {
	s, c := independent.Start(independent.Options{Edition: edition}), config.Default()
	defer s.Close()
	if err := s.Configure(&c); err != nil {
		return err
	}
	if err := os.WriteFile(file, c.YAML(), 0o600); err != nil {
		return err
	}
	fmt.Println("ready", s.ControlURL)
	_, _ = io.Copy(io.Discard, os.Stdin)
	return nil
}
