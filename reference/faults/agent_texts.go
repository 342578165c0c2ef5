package faults

import (
	"strings"
)

// agentTexts holds the faults in what becomes of the text of a message.
func agentTexts() []Fault {
	return []Fault{
		{
			Name: "texts-are-ascii", Breaks: "letters beyond ASCII are stored as question marks", Fails: "AS-STATE-2",
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
			Name: "texts-are-cut", Breaks: "the column of a message's text holds 255 characters, and the rest is lost", Fails: "AS-STATE-2",
			Apply: rewritten(func(text string) string {
				runes := []rune(text)
				return string(runes[:min(len(runes), 255)])
			}),
		},
		{
			Name: "texts-are-one-line", Breaks: "several blanks, tabs and line ends are stored as one blank", Fails: "AS-STATE-2",
			Apply: rewritten(func(text string) string { return strings.Join(strings.Fields(text), " ") }),
		},
		{
			Name: "texts-are-normalised", Breaks: "a letter and the mark behind it are stored as one letter", Fails: "AS-STATE-2",
			Apply: rewritten(strings.NewReplacer("e\u0308", "\u00eb", "i\u0308", "\u00ef", "e\u0301", "\u00e9").Replace),
		},
		{
			Name: "texts-have-two-bytes-a-letter", Breaks: "letters beyond the first 65,536 are stored as replacement characters", Fails: "AS-STATE-2",
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

// rewritten changes the texts of all messages that a state shows.
func rewritten(change func(text string) string) Layer {
	return onEachMessage(func(m map[string]any) {
		if content, is := m["content"].(string); is {
			m["content"] = change(content)
		}
	})
}
