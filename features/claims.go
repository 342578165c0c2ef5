package features

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/agentconform/agentconform/reports"
)

//go:embed capabilities.yaml
var capabilitiesFile []byte

// Capability is a part of a profile that a target may claim by itself: a closed set of requirements.
type Capability struct {
	Name         string   `yaml:"name"`
	Profile      string   `yaml:"profile"`
	Core         bool     `yaml:"core"`  // claimed with every other capability of its profile
	Title        string   `yaml:"title"` // what it is, for people
	Why          string   `yaml:"why"`   // of a core: why it cannot be left out
	Requirements []string `yaml:"requirements"`
}

// capabilities are those of the table, and capabilityOf the one of each requirement. A test compares both with the
// features.
var capabilities, capabilityOf = func() (all []*Capability, of map[string]*Capability) {
	if err := yaml.Unmarshal(capabilitiesFile, &all); err != nil {
		panic(err) // the file is a part of the program
	}
	of = map[string]*Capability{}
	for _, c := range all {
		for _, id := range c.Requirements {
			of[id] = c
		}
	}
	return all, of
}()

// CapabilityOf returns the capability that a requirement is in; nil for an ID that is not in the catalogue.
func CapabilityOf(id string) *Capability { return capabilityOf[id] }

// Claims are words of the key supports: profiles and capabilities. The claim is the union of its words. A profile
// claims all of its requirements; a capability claims its own and the core of its profile, so that no claim lacks the
// core; end-to-end brings both cores. Without words everything is claimed.
type Claims []string

// ClaimWords are the words that a claim may hold: the profiles, then the capabilities.
func ClaimWords() []string {
	words := slices.Clone(Profiles)
	for _, c := range capabilities {
		if !slices.Contains(words, c.Name) {
			words = append(words, c.Name)
		}
	}
	return words
}

// Lacks returns the word that would claim the requirement, and "" where it is claimed: its profile if nothing of that
// is claimed, else its capability.
func (c Claims) Lacks(q *Requirement) string {
	own := capabilityOf[q.ID]
	switch {
	case len(c) == 0 || own == nil || c.holds(own):
		return ""
	case !slices.ContainsFunc(c, func(word string) bool { return profileOf(word) == q.Profile }):
		return q.Profile
	}
	return own.Name
}

// Promised returns the capability of a requirement that has to be judged because it was claimed: any of a capability
// that is named itself, and the MUSTs of a core and of what a profile holds. It is "" for all others.
func (c Claims) Promised(q *Requirement) string {
	own := capabilityOf[q.ID]
	if own == nil || !c.Names(q) && (q.Level != reports.Must || !c.holds(own)) {
		return ""
	}
	return own.Name
}

// Names tells whether the capability of a requirement is named itself, and is no core: whatever its level, the
// requirement counts as MUST then.
func (c Claims) Names(q *Requirement) bool {
	own := capabilityOf[q.ID]
	return own != nil && !own.Core && slices.Contains(c, own.Name)
}

// holds tells whether a word claims the capability.
func (c Claims) holds(own *Capability) bool {
	return slices.ContainsFunc(c, func(word string) bool {
		profile := profileOf(word)
		return word == own.Name || word == own.Profile || own.Core && (profile == own.Profile || profile == EndToEnd)
	})
}

// profileOf is the profile that a word is about.
func profileOf(word string) string {
	for _, c := range capabilities {
		if c.Name == word {
			return c.Profile
		}
	}
	return word
}

// ClaimsMarkdown is the table of the capabilities, for the page of the configuration.
func ClaimsMarkdown() string {
	var b strings.Builder
	b.WriteString("| word | profile | what it claims | requirements |\n| --- | --- | --- | --- |\n")
	for _, c := range capabilities {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", c.Name, c.Profile, marked(c.Title), strings.Join(c.Requirements, ", "))
	}
	b.WriteString("\nThe cores cannot be left out:\n\n")
	for _, c := range capabilities {
		if c.Core {
			fmt.Fprintf(&b, "- `%s`: %s\n", c.Name, c.Why)
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}
