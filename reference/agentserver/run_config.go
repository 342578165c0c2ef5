package agentserver

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// runConfig is what the client of a run gives to its graph, beside the input.
type runConfig struct {
	configurable map[string]any // beside the keys of the server
	others       map[string]any // tags and recursion_limit, where they are given
}

const zero = json.Number("0")

// reservedConfigurable are keys of "configurable" that are the server's. So are those that begin with "__" or speak of
// the authenticated user, in any vocabulary.
var reservedConfigurable = []string{"run_id", "thread_id", "assistant_id", "checkpoint_id", "checkpoint_ns", "checkpoint_map"}

func reserved(key string) bool {
	return strings.HasPrefix(key, "__") || strings.Contains(key, "auth_user") || strings.Contains(key, "auth_permissions") ||
		slices.Contains(reservedConfigurable, key)
}

// readConfig reads config and context. Both end up in what the graph gets as "configurable", so only one of them may be
// given; the keys of the server are refused in both, except the id of the run's own thread, which clients repeat.
func (out *runRequest) readConfig(body map[string]any, threadID string) error {
	config, err := objectField(body, "config")
	if err != nil {
		return err
	}
	context, err := objectField(body, "context")
	if err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(config)) {
		if !slices.Contains([]string{"configurable", "tags", "recursion_limit", "metadata"}, key) {
			return invalid("config.%s is not offered: the keys are configurable, tags, recursion_limit and metadata", key)
		}
	}
	configurable, err := objectField(config, "configurable")
	if err != nil {
		return invalid("config.configurable must be an object")
	}
	if len(configurable) > 0 && len(context) > 0 {
		return invalid("context and config.configurable must not be given together: prefer context")
	}
	out.config = runConfig{configurable: map[string]any{}, others: map[string]any{}}
	for name, values := range map[string]map[string]any{"config.configurable": configurable, "context": context} {
		for key, v := range values {
			if reserved(key) {
				if id, _ := v.(string); asksForNothing(v) || key == "thread_id" && threadID != "" && strings.EqualFold(id, threadID) {
					continue
				}
				return invalid("%s.%s is set by the server: leave it out", name, key)
			}
			out.config.configurable[key] = v
		}
	}
	return out.readOtherConfig(config)
}

// readOtherConfig reads what is beside "configurable": tags and recursion_limit, which the graph gets as they are (it is one
// step and comes to no limit), and metadata, which is the run's.
func (out *runRequest) readOtherConfig(config map[string]any) error {
	if v := config["tags"]; v != nil {
		tags, ok := v.([]any)
		for _, tag := range tags {
			_, text := tag.(string)
			ok = ok && text
		}
		if !ok {
			return invalid("config.tags must be an array of strings")
		}
		out.config.others["tags"] = tags
	}
	if v := config["recursion_limit"]; v != nil {
		if _, err := intField(config, "recursion_limit", 0, 1, 1<<31-1); err != nil {
			return invalid("config.recursion_limit must be a positive integer")
		}
		out.config.others["recursion_limit"] = v
	}
	metadata, err := objectField(config, "metadata")
	if err != nil {
		return invalid("config.metadata must be an object")
	}
	merged := maps.Clone(metadata)
	maps.Copy(merged, out.metadata)
	out.metadata = merged
	return nil
}
