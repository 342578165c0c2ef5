package hostile

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/agentconform/agentconform/reference/deviate"
)

// Exits contains the exit codes of test runs by the verdict in result.json.
var Exits = map[string]int{"conformant": 0, nonConformant: 1, "incomplete": 3}

const nonConformant = "non-conformant"

// Mode is one way in which a target is hostile.
type Mode struct {
	Name    string `yaml:"-"`     // such as "nested-objects"
	Group   string `yaml:"group"` // such as "bodies"
	Does    string `yaml:"does"`  // what the target does, as a predicate without a subject
	Verdict string `yaml:"verdict"`
	// Because is the reason for the verdict. It may be empty if the target violates the interface.
	Because string `yaml:"because"`
	// Seconds is the time that a test run may take after --timeout, or 0 for the default.
	Seconds int `yaml:"seconds"`
	// TLS is true if the addresses of the target start with https.
	TLS bool `yaml:"tls"`
	// Config contains further configuration keys of the test run.
	Config map[string]any `yaml:"config"`

	Changes        []deviate.Change `yaml:"changes"`
	deviate.Change `yaml:",inline"`
	Value          yaml.Node `yaml:"value"` // replaces {value} in Do
	Response       response  `yaml:",inline"`
	Front          string    `yaml:"front"`
	Stops          int64     `yaml:"stops"` // the number of requests after which the target stops, or 0
}

// row contains the common parts of several modes.
type row struct {
	Parts  []any `yaml:"parts"` // anchors for the rest of the file
	Mode   `yaml:",inline"`
	Modes  map[string]yaml.Node `yaml:"modes"`
	Values map[string]yaml.Node `yaml:"values"`
}

//go:embed hostile.yaml
var file []byte

// All returns all modes, sorted by group and name.
func All() []Mode {
	var rows []row
	if err := yaml.Load(file, &rows, yaml.WithKnownFields()); err != nil {
		panic(fmt.Sprintf("hostile.yaml: %v", err)) // impossible: the file is embedded, and a test reads it
	}
	var all []Mode
	for _, row := range rows {
		for name, own := range row.Modes {
			m := row.Mode
			m.Verdict = cmp.Or(m.Verdict, nonConformant)
			if err := own.Load(&m, yaml.WithKnownFields()); err != nil {
				panic(fmt.Sprintf("hostile.yaml: %s: %v", name, err))
			}
			m.Name = name
			if len(row.Values) == 0 {
				all = append(all, m)
			}
			for of, value := range row.Values {
				m.Name, m.Value = name+"-"+of, value
				all = append(all, m)
			}
		}
	}
	slices.SortFunc(all, func(a, b Mode) int { return strings.Compare(a.Group+" "+a.Name, b.Group+" "+b.Name) })
	return all
}

// around returns a handler that serves next with the deviations of the mode.
func (m *Mode) around(next http.Handler) http.Handler {
	changes := slices.Clone(m.Changes)
	if len(m.When) > 0 {
		changes = append(changes, m.Change)
	}
	for i, c := range changes {
		changed := deviate.Change{When: c.When}
		if len(c.Do) == 0 {
			changed.Instead = m.Response.instead
		}
		for _, do := range c.Do {
			changed.Do = append(changed.Do, m.filled(do))
		}
		changes[i] = changed
	}
	row := &deviate.Row{Name: m.Name, Changes: changes}
	if err := row.Read(); err != nil {
		panic(fmt.Sprintf("hostile.yaml: %v", err)) // impossible, as in All
	}
	return row.Around(next, &deviate.Count{})
}

// filled replaces {value} in a change by the value of the mode, as YAML.
func (m *Mode) filled(do string) string {
	if !strings.Contains(do, "{value}") {
		return do
	}
	var value any
	var err error
	if m.Value.Tag == "!text" {
		var t text
		err = m.Value.Decode(&t)
		value = t.String()
	} else {
		err = m.Value.Decode(&value)
	}
	if err != nil {
		panic(fmt.Sprintf("hostile.yaml: %s: %v", m.Name, err)) // impossible, as in All
	}
	if s, ok := value.(string); ok {
		return strings.ReplaceAll(do, "{value}", strconv.QuoteToASCII(s))
	}
	encoded, _ := json.Marshal(value) // cannot fail: the value was read from YAML
	return strings.ReplaceAll(do, "{value}", string(encoded))
}
