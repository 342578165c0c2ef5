package faults

func keptAsIs() []Fault {
	return []Fault{
		{
			Name: "null-clears-a-field", Breaks: "an update with repo_ref, graph_config_path or image_uri null shows it as null", Fails: "CP-UPDATE-12",
			Apply: forgetting(func(body map[string]any, field string) bool {
				value, named := sourceOf(body)[field]
				return named && value == nil
			}),
		},
		{
			Name: "update-clears-what-it-does-not-name", Breaks: "an update with a source field shows the other source fields of the new revision as null", Fails: "CP-UPDATE-12",
			Apply: forgetting(func(body map[string]any, field string) bool {
				return len(asked(body)) > 0 && sourceOf(body)[field] == nil
			}),
		},
	}
}
