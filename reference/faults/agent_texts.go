package faults

import (
	"strings"
)

// agentTexts returns the faults in the content of messages.
func agentTexts() []Fault {
	return []Fault{
		{
			Name: "texts-are-ascii", Breaks: "non-ASCII characters are stored as question marks", Fails: "AS-STATE-2",
			Apply: rewritten(func(text string) string {
				return strings.Map(func(r rune) rune {
					if r > 127 {
						return '?'
					}
					return r
				}, text)
			}),
		},
		{
			Name: "texts-are-one-line", Breaks: "consecutive whitespace is stored as one space", Fails: "AS-STATE-2",
			Apply: rewritten(func(text string) string { return strings.Join(strings.Fields(text), " ") }),
		},
		{
			Name: "texts-are-normalised", Breaks: "a letter with a combining mark is stored as one composed character", Fails: "AS-STATE-2",
			Apply: rewritten(strings.NewReplacer("e\u0308", "\u00eb", "i\u0308", "\u00ef", "e\u0301", "\u00e9").Replace),
		},
		{
			Name: "texts-have-two-bytes-a-letter", Breaks: "characters above U+FFFF are stored as U+FFFD", Fails: "AS-STATE-2",
			Apply: rewritten(func(text string) string {
				return strings.Map(func(r rune) rune {
					if r > 0xffff {
						return 0xfffd
					}
					return r
				}, text)
			}),
		},
	}
}

// rewritten changes the content of all messages in a state.
func rewritten(change func(text string) string) Layer {
	return onEachMessage(func(m map[string]any) {
		if content, is := m["content"].(string); is {
			m["content"] = change(content)
		}
	})
}
