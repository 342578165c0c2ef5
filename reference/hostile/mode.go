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

// Exits are the exit codes of runs by their verdict, as result.json has it.
var Exits = map[string]int{"conformant": 0, nonConformant: 1, "incomplete": 3}

const nonConformant = "non-conformant"

// Mode is one way in which a target is hostile.
type Mode struct {
	Name    string `yaml:"-"`     // "nested-objects"
	Group   string `yaml:"group"` // what is hostile: "bodies"
	Does    string `yaml:"does"`  // what the target does, as a main clause
	Verdict string `yaml:"verdict"`
	// Because says why this verdict is right where another one could be, too. Empty where the interface decides.
	Because string `yaml:"because"`
	// Seconds bound the run in addition to --timeout. 0: the bound of the whole table.
	Seconds int `yaml:"seconds"`
	// TLS says that the addresses of the target begin with https.
	TLS bool `yaml:"tls"`
	// Config are further keys of the configuration of the run.
	Config map[string]any `yaml:"config"`

	Changes        []deviate.Change `yaml:"changes"`
	deviate.Change `yaml:",inline"`
	Value          yaml.Node `yaml:"value"` // stands in Do as {value}
	Answer         answer    `yaml:",inline"`
	Front          string    `yaml:"front"`
	Stops          int64     `yaml:"stops"` // after so many requests
}

// row is what some modes have in common.
type row struct {
	Parts  []any `yaml:"parts"` // have names elsewhere in the file
	Mode   `yaml:",inline"`
	Modes  map[string]yaml.Node `yaml:"modes"`
	Values map[string]yaml.Node `yaml:"values"`
}

//go:embed hostile.yaml
var file []byte

// All returns the table, sorted by group and name.
func All() []Mode {
	var rows []row
	if err := yaml.Load(file, &rows, yaml.WithKnownFields()); err != nil {
		panic(fmt.Sprintf("hostile.yaml: %v", err)) // it is a part of the program, and a test reads it
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

// around puts the mode around the reference.
func (m *Mode) around(next http.Handler) http.Handler {
	changes := slices.Clone(m.Changes)
	if len(m.When) > 0 {
		changes = append(changes, m.Change)
	}
	for i, c := range changes {
		changed := deviate.Change{When: c.When}
		if len(c.Do) == 0 {
			changed.Instead = m.Answer.instead
		}
		for _, do := range c.Do {
			changed.Do = append(changed.Do, m.filled(do))
		}
		changes[i] = changed
	}
	row := &deviate.Row{Name: m.Name, Changes: changes}
	if err := row.Read(); err != nil {
		panic(fmt.Sprintf("hostile.yaml: %v", err)) // as above
	}
	return row.Around(next, &deviate.Count{})
}

// filled is a change with the value of the mode, as YAML, in its place.
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
		panic(fmt.Sprintf("hostile.yaml: %s: %v", m.Name, err)) // as above
	}
	if s, is := value.(string); is {
		return strings.ReplaceAll(do, "{value}", strconv.QuoteToASCII(s))
	}
	written, _ := json.Marshal(value) // read from YAML
	return strings.ReplaceAll(do, "{value}", string(written))
}
