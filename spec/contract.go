package spec

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/pb33f/libopenapi-validator/openapi_vocabulary"
	"github.com/santhosh-tekuri/jsonschema/v6"
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
	enums      map[string][]string // by field: "Revision.status"
}

type operation struct {
	Operation
	place       int      // in the document
	segments    []string // of the path template
	parameters  map[string]*parameter
	body        *jsonschema.Schema // of the request, or nil
	bodyMissing bool               // the request may have no body
	responses   map[string]*response
}

type parameter struct {
	Parameter
	schema *jsonschema.Schema
}

// response is one declared response.
type response struct {
	contentTypes []string           // empty if any content type and body are allowed
	bodyOptional bool               // the response may have no body although a content type is declared
	schema       *jsonschema.Schema // nil if any body is allowed
}

// compiler reads a document with the model of kin-openapi.
type compiler struct {
	side     Side
	model    *openapi3.T
	document []byte
}

// place returns the offset of the last line with a text. The model has no order, and with line numbers it takes longer
// to load than everything else.
func (c *compiler) place(line string) int { return bytes.LastIndex(c.document, []byte("\n"+line+"\n")) }

func compile(side Side, document []byte) (*contract, error) {
	model, err := openapi3.NewLoader().LoadFromData(document)
	if err != nil {
		return nil, fmt.Errorf("reading the %s document: %w", side, err)
	}
	c := &compiler{side, model, document}
	result := &contract{enums: c.enums()}
	for _, path := range model.Paths.Keys() { // sorted, so that an error is the same each time
		item := model.Paths.Value(path)
		for method, declared := range item.Operations() {
			compiled, err := c.operation(path, method, item, declared)
			if err != nil {
				return nil, fmt.Errorf("compiling operation %s of the %s document: %w", declared.OperationID, side, err)
			}
			result.operations = append(result.operations, compiled)
		}
	}
	slices.SortFunc(result.operations, func(a, b *operation) int { return a.place - b.place })
	return result, nil
}

func (c *compiler) operation(path, method string, item *openapi3.PathItem, declared *openapi3.Operation) (
	*operation, error,
) {
	result := &operation{
		Operation: Operation{
			ID: declared.OperationID, Side: c.side, Method: method, Path: path, Field: declared.Extensions[extField] == true,
		},
		place:      c.place("      operationId: " + declared.OperationID),
		segments:   segmentsOf(path),
		parameters: map[string]*parameter{},
		responses:  map[string]*response{},
	}
	for _, p := range slices.Concat(item.Parameters, declared.Parameters) {
		compiled, err := c.parameter(p.Value)
		if err != nil {
			return nil, fmt.Errorf("parameter %s: %w", p.Value.Name, err)
		}
		result.parameters[compiled.Name] = compiled
		result.Parameters = append(result.Parameters, compiled.Parameter)
	}
	if declared.RequestBody != nil {
		body := declared.RequestBody.Value
		schema, err := jsonSchema(body.Content)
		if err != nil {
			return nil, fmt.Errorf("request body: %w", err)
		}
		result.body, result.bodyMissing, result.Example = schema, !body.Required, body.Content.Get(jsonType).Example
	}
	for _, status := range declared.Responses.Keys() { // sorted
		compiled, err := newResponse(declared.Responses.Value(status).Value)
		if err != nil {
			return nil, fmt.Errorf("response %s: %w", status, err)
		}
		result.responses[status] = compiled
		result.Statuses = append(result.Statuses, status)
	}
	return result, nil
}

func (c *compiler) parameter(declared *openapi3.Parameter) (*parameter, error) {
	schema := declared.Schema.Value
	result := &parameter{Parameter: Parameter{
		Name: declared.Name, In: declared.In, Enum: texts(schema.Enum),
		Minimum: schema.Min, Maximum: schema.Max, Default: schema.Default,
	}}
	for _, name := range schema.Type.Slice() {
		if name != "null" {
			result.Type = name
		}
	}
	if name, is := declared.Extensions[extCommaSeparated].(string); is {
		item := c.model.Components.Schemas[name]
		if item == nil {
			return nil, fmt.Errorf("%s names the unknown schema %q", extCommaSeparated, name)
		}
		result.List, result.Enum = true, texts(item.Value.Enum)
	}
	compiled, err := compileSchema(declared.Schema)
	result.schema = compiled
	return result, err
}

func newResponse(declared *openapi3.Response) (result *response, err error) {
	result = &response{
		contentTypes: slices.Collect(maps.Keys(declared.Content)),
		bodyOptional: declared.Extensions[extBodyOptional] == true,
	}
	if len(result.contentTypes) > 0 {
		result.schema, err = jsonSchema(declared.Content)
	}
	return result, err
}

// jsonSchema compiles the schema of a body that is JSON.
func jsonSchema(content openapi3.Content) (*jsonschema.Schema, error) {
	media := content[jsonType]
	if media == nil || media.Schema == nil {
		return nil, errors.New("no schema for " + jsonType)
	}
	return compileSchema(media.Schema)
}

// compileSchema compiles a schema as the validators of libopenapi-validator do: with the keywords of OpenAPI 3.1, and
// formats asserted. Package helpers of that library could do this, too, but building it takes longer than building all
// other code.
func compileSchema(schema *openapi3.SchemaRef) (*jsonschema.Schema, error) {
	if err := inline(schema, nil); err != nil {
		return nil, err
	}
	text, err := json.Marshal(schema)
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

// inline replaces the references in a schema by their targets. above has the schemas that contain it.
func inline(schema *openapi3.SchemaRef, above []*openapi3.Schema) error {
	if slices.Contains(above, schema.Value) {
		return fmt.Errorf("%s contains itself", schema.Ref)
	}
	schema.Ref = ""
	above = append(above, schema.Value)
	parts := slices.Collect(maps.Values(schema.Value.Properties))
	if items := schema.Value.Items; items != nil {
		parts = append(parts, items)
	}
	for _, part := range parts {
		if err := inline(part, above); err != nil {
			return err
		}
	}
	return nil
}

// texts returns the strings in a list of values.
func texts(values []any) (all []string) {
	for _, value := range values {
		if text, is := value.(string); is {
			all = append(all, text)
		}
	}
	return all
}
