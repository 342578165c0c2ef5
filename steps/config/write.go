package config

import (
	"bytes"
	"fmt"

	"go.yaml.in/yaml/v4"
)

// YAML writes the configuration as a file that Load reads, with what each key is for. It holds the credentials.
func (c *Config) YAML() ([]byte, error) {
	var out bytes.Buffer
	out.WriteString("# How agentconform judges this target. It holds credentials: keep it to yourself.\n")
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	var node yaml.Node
	if err := node.Encode(c); err != nil {
		return nil, fmt.Errorf("writing the configuration as YAML: %w", err)
	}
	explain(&node, "")
	if err := encoder.Encode(&node); err != nil {
		return nil, fmt.Errorf("writing the configuration as YAML: %w", err)
	}
	return out.Bytes(), encoder.Close()
}
