package spec

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// extNeutral lists names of the interface that stand in for a brand (its introduction). A server may spell them otherwise.
const extNeutral = "x-neutral"

// extForm names the schema whose names an open body has.
const extForm = "x-form"

// extReadOnly names the schemas whose further fields a request may not set: that they are ignored is judged too, so a request
// with them has the target's names.
const extReadOnly = "x-read-only"

// Vocabulary translates between the names of the interface and those that a target uses in their place: of fields, of query
// parameters, and values of enumerations. A name is translated only at the places where the documents have it, so that text
// of users that equals a name stays as it is. It is safe for concurrent use; nil translates nothing.
type Vocabulary struct {
	words      map[string]string // the target's name by the interface's; without those that are the same
	kinds      map[string]WordKind
	neutral    map[string]bool
	answered   map[string]bool // words that have a place in answers
	rivals     map[string][]string
	operations []*dictionary
}

// WordKind says what a name of the interface is the name of.
type WordKind string

// The kinds of words. A word that is the name of a field and of a parameter is a field.
const (
	FieldWord     WordKind = "field"
	ParameterWord WordKind = "parameter"
	ValueWord     WordKind = "value"
)

// Word is a name of the interface with the target's name for it.
type Word struct {
	Name, As string
	Kind     WordKind
	Neutral  bool // the interface's name stands in for a brand, so that each target has its own
	Wire     bool // it occurs in requests or answers; some neutral names do not
}

// Misuse is an entry of a vocabulary that cannot be used.
type Misuse struct {
	Name    string // the interface's
	Problem string
	Remedy  string
}

// NewVocabulary takes the target's names by the interface's. What cannot be used is returned, in the order of the names.
func NewVocabulary(words map[string]string) (*Vocabulary, []Misuse) {
	v := &Vocabulary{words: maps.Clone(words), kinds: map[string]WordKind{}, neutral: map[string]bool{}, answered: map[string]bool{}, rivals: map[string][]string{}}
	maps.DeleteFunc(v.words, func(name, as string) bool { return name == as })
	if len(words) == 0 {
		return v, nil
	}
	b := &shapes{vocabulary: v, known: map[*yaml.Node]*shape{}, clashes: map[string]string{}}
	for _, side := range Sides() {
		root, err := parse(Document(side))
		if err != nil {
			panic("the embedded document cannot be read: " + err.Error()) // only a broken build can have it
		}
		v.noteNeutral(root, map[*yaml.Node]bool{})
		v.operations = append(v.operations, b.dictionaries(side, root)...)
	}
	return v, v.misuses(words, b.clashes)
}

func (v *Vocabulary) noteNeutral(node *yaml.Node, visited map[*yaml.Node]bool) {
	if visited[node] {
		return
	}
	visited[node] = true
	for _, name := range texts(node, extNeutral) {
		v.neutral[name] = true
	}
	for _, part := range node.Content {
		v.noteNeutral(part, visited)
	}
}

func (v *Vocabulary) misuses(words, clashes map[string]string) (all []Misuse) {
	for _, name := range slices.Sorted(maps.Keys(words)) {
		_, known := v.kinds[name]
		switch {
		case words[name] == "":
			all = append(all, Misuse{name, "is empty", "set it to the target's name, or remove the key"})
		case !known && !v.neutral[name]:
			all = append(all, Misuse{name, "is not a field, a query parameter or an enum value of the interface",
				"write the interface's name on the left and the target's on the right: source: origin" + v.swapped(name, words[name])})
		case clashes[name] != "":
			all = append(all, Misuse{name, clashes[name], "give each name of the interface its own"})
		}
	}
	return all
}

// swapped says that an entry is the wrong way round.
func (v *Vocabulary) swapped(name, as string) string {
	if _, known := v.kinds[as]; known || v.neutral[as] {
		return fmt.Sprintf("; here %s: %s", as, name)
	}
	return ""
}

// Words lists the words that are translated, by name. Neutral names that never occur in requests or answers are among them.
func (v *Vocabulary) Words() []Word {
	if v == nil {
		return nil
	}
	var all []Word
	for _, name := range slices.Sorted(maps.Keys(v.words)) {
		kind, wire := v.kinds[name]
		all = append(all, Word{Name: name, As: v.words[name], Kind: kind, Neutral: v.neutral[name], Wire: wire})
	}
	return all
}

// Empty tells whether nothing is translated.
func (v *Vocabulary) Empty() bool { return v == nil || len(v.words) == 0 }

// OnWire is the target's name for a name of the interface: the name itself where the vocabulary has no other.
func (v *Vocabulary) OnWire(name string) string {
	if v == nil || v.words[name] == "" {
		return name
	}
	return v.words[name]
}

// InAnswers tells whether the documents have a place for the word in an answer, so that a target which uses it shows it.
func (v *Vocabulary) InAnswers(name string) bool { return v != nil && v.answered[name] }

// Rivals lists the renamed values of the enumerations that a renamed value belongs to, itself included.
func (v *Vocabulary) Rivals(name string) []string {
	if v == nil {
		return nil
	}
	return v.rivals[name]
}

// dictionary translates the requests and answers of one operation.
type dictionary struct {
	id, method string
	side       Side
	segments   []string // of the path template
	query      map[string]*shape
	body       *shape
	answers    map[string]*shape
}

// of finds the dictionary of a request; nil if the operation is not in the documents.
func (v *Vocabulary) of(side Side, method, path string) *dictionary {
	if v.Empty() {
		return nil
	}
	var best *dictionary
	segments := segmentsOf(path)
	fewest := len(segments) + 1
	for _, d := range v.operations {
		if d.side != side || d.method != method {
			continue
		}
		if n, ok := match(d.segments, segments); ok && n < fewest {
			best, fewest = d, n
		}
	}
	return best
}

func (d *dictionary) answer(status int) *shape {
	if s, exact := d.answers[fmt.Sprint(status)]; exact {
		return s
	}
	return d.answers[fmt.Sprint(status/100)+"XX"]
}

// dictionaries makes those of the operations of a document.
func (b *shapes) dictionaries(side Side, root *yaml.Node) (all []*dictionary) {
	b.root = root
	for path, item := range fields(child(root, "paths")) {
		for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodPatch, http.MethodDelete} {
			declared := child(item, strings.ToLower(method))
			if declared == nil {
				continue
			}
			d := &dictionary{id: text(declared, "operationId"), method: method, side: side, segments: segmentsOf(path),
				query: map[string]*shape{}, answers: map[string]*shape{}}
			for _, p := range slices.Concat(items(child(item, "parameters")), items(child(declared, "parameters"))) {
				if text(p, "in") == "query" {
					d.query[text(p, "name")] = b.parameter(p)
				}
			}
			d.body = b.of(schemaOf(child(declared, "requestBody")))
			for status, r := range fields(child(declared, "responses")) {
				d.answers[status] = b.of(cmp.Or(formOf(root, r), schemaOf(r)))
				d.answers[status].visit(func(words map[string]string) {
					for name := range words {
						b.vocabulary.answered[name] = true
					}
				})
			}
			all = append(all, d)
		}
	}
	return all
}

// formOf is the schema whose names a body has that is open.
func formOf(root, response *yaml.Node) *yaml.Node {
	if name := text(response, extForm); name != "" {
		return lookup(root, "#/components/schemas/"+name)
	}
	return nil
}

func schemaOf(body *yaml.Node) *yaml.Node {
	return child(child(child(body, "content"), jsonType), "schema")
}
