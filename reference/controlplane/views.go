package controlplane

import (
	"encoding/json"
	"maps"
	"time"
)

// deploymentView is a Deployment as it is shown (interface, section 2, and the field's further members).
type deploymentView struct {
	ID                   string                     `json:"id"`
	Name                 string                     `json:"name"`
	CreatedAt            time.Time                  `json:"created_at"`
	UpdatedAt            time.Time                  `json:"updated_at"`
	Status               string                     `json:"status"`
	Source               Source                     `json:"source"`
	SourceConfig         map[string]json.RawMessage `json:"source_config"`
	SourceRevisionConfig SourceRevisionConfig       `json:"source_revision_config"`
	Secrets              []secretView               `json:"secrets"`
	LatestRevisionID     string                     `json:"latest_revision_id"`
	ActiveRevisionID     *string                    `json:"active_revision_id"`
}

// secretView shows that a secret is there, never what it is.
type secretView struct {
	Name string `json:"name"`
}

// ready is the status of every deployment that can be seen: nothing has to be made ready before its first revision.
const ready = "READY"

// deploymentStatuses are those that the field's clients filter by.
var deploymentStatuses = []string{"AWAITING_DATABASE", ready, "UNUSED", "AWAITING_DELETE", "UNKNOWN"}

func (s *Server) showDeployment(d Deployment) deploymentView {
	view := deploymentView{
		ID: d.ID, Name: d.Name, CreatedAt: d.CreatedAt, UpdatedAt: d.UpdatedAt, Status: ready, Source: d.Source,
		SourceConfig:         map[string]json.RawMessage{},
		SourceRevisionConfig: d.Latest.Config,
		Secrets:              make([]secretView, len(d.Secrets)),
		LatestRevisionID:     d.LatestRevisionID,
	}
	for i, secret := range d.Secrets {
		view.Secrets[i].Name = secret.Name
	}
	if d.ActiveRevisionID != "" {
		view.ActiveRevisionID = &d.ActiveRevisionID
	}
	maps.Copy(view.SourceConfig, d.SourceConfig.Other)
	for key, value := range map[string]any{
		"repo_url": d.SourceConfig.RepoURL, "build_on_push": d.SourceConfig.BuildOnPush, "custom_url": s.agentURL(d.ID),
	} {
		view.SourceConfig[key], _ = json.Marshal(value) // strings and booleans always encode
	}
	return view
}

// revisionView is a Revision as it is shown (interface, section 2).
type revisionView struct {
	ID                   string               `json:"id"`
	CreatedAt            time.Time            `json:"created_at"`
	UpdatedAt            time.Time            `json:"updated_at"`
	Status               Status               `json:"status"`
	StatusMessage        *string              `json:"status_message"` // why it failed or was left
	Source               Source               `json:"source"`
	SourceRevisionConfig SourceRevisionConfig `json:"source_revision_config"`
}

func showRevision(r Revision) revisionView {
	view := revisionView{
		ID: r.ID, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, Status: r.Status,
		Source: r.Source, SourceRevisionConfig: r.Config,
	}
	if r.Message != "" {
		view.StatusMessage = &r.Message
	}
	return view
}

// listView is a page of a list. Offset is where the next page begins (interface, section 2).
type listView[T any] struct {
	Resources []T `json:"resources"`
	Offset    int `json:"offset"`
}

func showPage[S, T any](items []S, page Page, show func(S) T) listView[T] {
	view := listView[T]{Resources: make([]T, len(items)), Offset: page.Offset + len(items)}
	for i, item := range items {
		view.Resources[i] = show(item)
	}
	return view
}
