package faults

import (
	"slices"
)

func agentStates() []Fault {
	return []Fault{
		{
			Name: "first-input-is-answered", Breaks: "of several input messages, the first is answered instead of the last", Fails: "AS-STATE-2",
			Apply: onMessages(func(all []map[string]any) []map[string]any {
				last := lastExchange(slices.Clone(all))
				if len(last) > 2 && last[1]["type"] == "human" {
					last[len(last)-1]["content"] = last[0]["content"]
				}
				return all
			}),
		},
		{
			Name: "second-run-replaces-the-first", Breaks: "the state contains only the messages of the last run", Fails: "AS-STATE-3",
			Apply: onMessages(lastExchange),
		},
	}
}

// onMessages changes the messages of a state, if there are any.
func onMessages(change func(all []map[string]any) []map[string]any) Layer {
	return onObject(getState, func(s map[string]any) {
		values := object(s["values"])
		if all := items(values["messages"]); len(all) > 0 {
			values["messages"] = change(all)
		}
	})
}

func onEachMessage(change func(m map[string]any)) Layer {
	return onMessages(func(all []map[string]any) []map[string]any {
		for _, m := range all {
			change(m)
		}
		return all
	})
}

// lastExchange returns the last consecutive human messages and all that follows.
func lastExchange(all []map[string]any) []map[string]any {
	at := len(all) - 1
	for at > 0 && all[at]["type"] != "human" {
		at--
	}
	for at > 0 && all[at-1]["type"] == "human" {
		at--
	}
	return all[at:]
}
