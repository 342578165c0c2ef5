package hostile

import "strings"

// hostileIDs are ids that do harm in a path, by name.
var hostileIDs = map[string]any{
	"empty": "", "dot": ".", "dots": "..", "slash": "a/b", "escape": "../../threads", "escaped-dots": "%2e%2e%2f", "query": "a?b=c#d",
	"control": "a\x00\r\nHost: evil\x1b[2J", "long": strings.Repeat("a", 1<<20), "blank": " ", "right-to-left": "\u202ea", "script": script,
	"number": 7, "null": nil, "object": map[string]any{"a": 1}, "list": []any{"a"}, "braces": "{deployment_id}", "backslash": `..\..`,
}

// ids has them in place of the ids of deployments, revisions, threads and runs, and has addresses of agent servers that lead elsewhere.
func ids() []Mode {
	var all []Mode
	add := func(name, does string, layer Layer) {
		all = append(all, Mode{Name: name, Does: does, Verdict: NonConformant, Layer: layer})
	}
	for name, id := range hostileIDs {
		add("deployment-id-"+name, "creates deployments with such an id", field("create-deployment", "id", id))
	}
	for _, name := range []string{"empty", "dots", "slash", "control", "long", "null"} {
		id := hostileIDs[name]
		add("latest-revision-"+name, "has such an id as latest_revision_id", both(field("create-deployment", "latest_revision_id", id), field("get-deployment", "latest_revision_id", id)))
		add("revision-id-"+name, "lists revisions with such an id", rows(func(_ int, row map[string]any) { row["id"] = id }))
		add("thread-id-"+name, "creates threads with such an id", field("create-thread", "thread_id", id))
		add("run-id-"+name, "creates runs with such an id", field("create-run", "run_id", id))
	}
	for name, address := range map[string]any{
		"metadata": "http://169.254.169.254/", "file": "file:///etc/passwd", "script": "javascript:alert(1)", "user": "http://a:b@192.0.2.1/",
		"long": "http://127.0.0.1/" + strings.Repeat("a", 1<<20), "control": "http://127.0.0.1/\x00\r\nX: y", "empty": "", "broken": "http://[::1", "no-scheme": "//127.0.0.1:1",
		"number": 7, "unroutable": "http://192.0.2.1:1/",
	} {
		verdict, because := Incomplete, "the interface does not say where the address stands: what needs it is blocked, and nothing of the control plane fails"
		switch name {
		case "empty":
			verdict, because = Conformant, "without an address the agent server is not judged, and the run is partial"
		case "long", "unroutable":
			verdict, because = NonConformant, "" // a deployment whose agent server does not answer is not deployed
		}
		all = append(all, Mode{
			Name: "agent-address-" + name, Does: "names such an address as that of the agent server", Verdict: verdict, Because: because,
			Layer: both(agentAddress("create-deployment", address), both(agentAddress("get-deployment", address), agentAddress("update-deployment", address))),
		})
	}
	return all
}

// agentAddress puts an address in the place from which the suite takes it.
func agentAddress(operation string, address any) Layer {
	return fields(operation, func(object map[string]any) {
		if source, is := object["source_config"].(map[string]any); is {
			source["custom_url"] = address
		}
	})
}
