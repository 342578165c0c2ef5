package spec

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/pb33f/libopenapi-validator/openapi_vocabulary"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v4"
)

// The extensions of the documents, see their descriptions.
const (
	extField          = "x-field"
	extBodyOptional   = "x-body-optional"
	extCommaSeparated = "x-comma-separated"
	extKnownValues    = "x-known-values"
)

const jsonType = "application/json"

// contract is one document, compiled.
type contract struct {
	operations []*operation
	enums      []enum
}

type operation struct {
	Operation
	segments    []string // of the path template
	parameters  map[string]*parameter
	body        *jsonschema.Schema // of the request; nil where it has none
	bodyMissing bool               // the request may come without a body
	responses   map[string]*response
}

type parameter struct {
	Parameter
	schema *jsonschema.Schema
}

type response struct {
	Response
	schema *jsonschema.Schema // nil where the body is open
}

type compiler struct {
	side Side
	root *yaml.Node
}

func compile(side Side, document []byte) (*contract, error) {
	root, err := parse(document)
	if err != nil {
		return nil, fmt.Errorf("reading the %s document: %w", side, err)
	}
	c := &compiler{side: side, root: root}
	result := &contract{enums: c.enums()}
	for path, item := range fields(child(root, "paths")) {
		for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodPatch, http.MethodDelete} {
			declared := child(item, strings.ToLower(method))
			if declared == nil {
				continue
			}
			compiled, err := c.operation(path, method, item, declared)
			if err != nil {
				return nil, fmt.Errorf("compiling operation %s of the %s document: %w", text(declared, "operationId"), side, err)
			}
			result.operations = append(result.operations, compiled)
		}
	}
	return result, nil
}

func (c *compiler) operation(path, method string, item, declared *yaml.Node) (*operation, error) {
	result := &operation{
		Operation: Operation{
			ID: text(declared, "operationId"), Side: c.side, Method: method, Path: path, Field: flag(declared, extField),
		},
		segments:   segmentsOf(path),
		parameters: map[string]*parameter{},
		responses:  map[string]*response{},
	}
	for _, p := range slices.Concat(items(child(item, "parameters")), items(child(declared, "parameters"))) {
		compiled, err := c.parameter(p)
		if err != nil {
			return nil, fmt.Errorf("parameter %s: %w", text(p, "name"), err)
		}
		result.parameters[compiled.Name] = compiled
		result.Parameters = append(result.Parameters, compiled.Parameter)
	}
	if body := child(declared, "requestBody"); body != nil {
		schema, err := jsonSchema(body)
		if err != nil {
			return nil, fmt.Errorf("request body: %w", err)
		}
		result.body, result.bodyMissing = schema, !flag(body, "required")
		if example := child(child(child(body, "content"), "application/json"), "example"); example != nil {
			if err := example.Decode(&result.Example); err != nil {
				return nil, fmt.Errorf("example of the request body: %w", err)
			}
		}
	}
	for status, r := range fields(child(declared, "responses")) {
		compiled, err := newResponse(status, r)
		if err != nil {
			return nil, fmt.Errorf("response %s: %w", status, err)
		}
		result.responses[status] = compiled
		result.Responses = append(result.Responses, compiled.Response)
	}
	return result, nil
}

func (c *compiler) parameter(declared *yaml.Node) (*parameter, error) {
	schema := child(declared, "schema")
	result := &parameter{Parameter: Parameter{
		Name: text(declared, "name"), In: text(declared, "in"), Required: flag(declared, "required"),
		Format: text(schema, "format"), Enum: texts(schema, "enum"),
	}}
	var bounds struct {
		Minimum, Maximum *float64
		Default          any
	}
	if err := schema.Decode(&bounds); err != nil {
		return nil, fmt.Errorf("reading the bounds: %w", err)
	}
	result.Minimum, result.Maximum, result.Default = bounds.Minimum, bounds.Maximum, bounds.Default
	for _, name := range append(texts(schema, "type"), text(schema, "type")) { // a list of types, or one
		switch name {
		case "":
		case "null":
			result.Nullable = true
		default:
			result.Type = name
		}
	}
	if name := text(declared, extCommaSeparated); name != "" {
		item := lookup(c.root, "#/components/schemas/"+name)
		if item == nil {
			return nil, fmt.Errorf("%s names the unknown schema %q", extCommaSeparated, name)
		}
		result.List, result.Enum = true, texts(item, "enum")
	}
	compiled, err := compileSchema(schema)
	result.schema = compiled
	return result, err
}

func newResponse(status string, declared *yaml.Node) (*response, error) {
	result := &response{Response: Response{Status: status, BodyOptional: flag(declared, extBodyOptional)}}
	for contentType := range fields(child(declared, "content")) {
		result.ContentTypes = append(result.ContentTypes, contentType)
	}
	if len(result.ContentTypes) == 0 {
		return result, nil
	}
	schema, err := jsonSchema(declared)
	result.schema = schema
	return result, err
}

// jsonSchema compiles the schema of a body that is JSON.
func jsonSchema(body *yaml.Node) (*jsonschema.Schema, error) {
	schema := child(child(child(body, "content"), jsonType), "schema")
	if schema == nil {
		return nil, errors.New("no schema for " + jsonType)
	}
	return compileSchema(schema)
}

// compileSchema compiles a schema as the validators of libopenapi-validator do: with the keywords of OpenAPI 3.1, and
// formats asserted. Its package helpers would do this too, but takes longer to build than all else that the suite needs.
func compileSchema(schema *yaml.Node) (*jsonschema.Schema, error) {
	var value any
	if err := schema.Decode(&value); err != nil {
		return nil, fmt.Errorf("reading the schema: %w", err)
	}
	text, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("writing the schema as JSON: %w", err)
	}
	resource, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("reading the schema as JSON: %w", err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	compiler.RegisterVocabulary(openapi_vocabulary.NewOpenAPIVocabulary(openapi_vocabulary.Version31))
	compiler.AssertVocabs()
	if err := compiler.AddResource("schema", resource); err != nil {
		return nil, fmt.Errorf("reading the schema: %w", err)
	}
	compiled, err := compiler.Compile("schema")
	if err != nil {
		return nil, fmt.Errorf("compiling the schema: %w", err)
	}
	return compiled, nil
}
