package client

import (
	"bytes"
	"encoding/json"
)

// Vocabulary maps between the interface's names and the target's: names of fields, and
// values of the field "source".
type Vocabulary struct{ toWire, fromWire map[string]string }

// NewVocabulary takes the target's names by the interface's.
func NewVocabulary(words map[string]string) Vocabulary {
	v := Vocabulary{toWire: words, fromWire: map[string]string{}}
	for ours, theirs := range words {
		v.fromWire[theirs] = ours
	}
	return v
}

// ToWire spells a JSON text as the target does.
func (v Vocabulary) ToWire(body []byte) []byte { return translate(body, v.toWire) }

// FromWire maps a JSON text to the interface's names. Other texts are returned as they are.
func (v Vocabulary) FromWire(body []byte) []byte { return translate(body, v.fromWire) }

func translate(body []byte, words map[string]string) []byte {
	if len(words) == 0 || len(body) == 0 || !json.Valid(body) {
		return body
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) != nil {
		return body
	}
	translated, err := json.Marshal(translateValue(value, words))
	if err != nil {
		return body
	}
	return translated
}

func translateValue(value any, words map[string]string) any {
	switch value := value.(type) {
	case []any:
		for i := range value {
			value[i] = translateValue(value[i], words)
		}
		return value
	case map[string]any:
		object := make(map[string]any, len(value))
		for key, item := range value {
			if word, ok := item.(string); ok && key == "source" && words[word] != "" {
				item = words[word]
			}
			if words[key] != "" {
				key = words[key]
			}
			object[key] = translateValue(item, words)
		}
		return object
	}
	return value
}
