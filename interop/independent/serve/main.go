// Command serve serves the independent server, and writes the configuration of a test of it:
//
//	go run ./interop/independent/serve [-clone] [-edition EDITION] FILE
//
// With -clone deployments are built from what a request names, fetched over HTTP; the server offers vendor extensions, and the
// configuration holds only the address and the key of the server. It serves until its standard input ends.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/agentconform/agentconform/interop/independent"
	"github.com/agentconform/agentconform/interop/independent/vendor"
)

func main() {
	var o independent.Options
	flag.BoolVar(&o.Clone, "clone", false, "build what a request names")
	flag.StringVar(&o.Edition, "edition", independent.Cloud, "cloud or self-hosted")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: serve [-clone] [-edition EDITION] FILE: the file gets the configuration")
		os.Exit(2)
	}
	o.Extras = o.Clone
	if err := serve(o, flag.Arg(0)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve(o independent.Options, file string) error {
	s, err := independent.Start(o)
	if err != nil {
		return err
	}
	defer s.Close()
	configure := vendor.Configuration
	if o.Clone {
		configure = vendor.Address
	}
	cfg, err := configure(s)
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
