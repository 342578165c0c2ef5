// Command serve serves the independent server until its standard input ends. FILE gets the configuration of a test:
//
//	go run ./interop/independent/serve [-edition self-hosted] FILE
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/agentconform/agentconform/interop/independent"
	"github.com/agentconform/agentconform/steps/config"
)

func main() {
	edition := flag.String("edition", config.Cloud, "cloud or self-hosted")
	flag.Parse()
	s, c := independent.Start(independent.Options{Edition: *edition}), config.Default()
	defer s.Close()
	invalid := s.Configure(&c)
	if err := errors.Join(invalid, os.WriteFile(flag.Arg(0), c.YAML(), 0o600)); err != nil {
		log.Panic(err)
	}
	fmt.Println("ready", s.ControlURL)
	_, _ = io.Copy(io.Discard, os.Stdin)
}
