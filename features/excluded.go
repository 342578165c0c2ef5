package features

import (
	_ "embed"
	"fmt"

	"go.yaml.in/yaml/v4"
)

//go:embed excluded.yaml
var excludedFile []byte

// Exclusion is something that the interface mentions and no requirement judges.
type Exclusion struct {
	Subject string `yaml:"subject" json:"subject"`
	Section string `yaml:"section" json:"section"`
	Reason  string `yaml:"reason" json:"reason"`
}

// Excluded returns what no requirement judges, with the reasons.
func Excluded() ([]Exclusion, error) {
	var list []Exclusion
	if err := yaml.Unmarshal(excludedFile, &list); err != nil {
		return nil, fmt.Errorf("reading the excluded subjects: %w", err)
	}
	return list, nil
}
