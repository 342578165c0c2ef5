package spec

import (
	"errors"
	"fmt"
	"iter"
	"net/http"

	"github.com/pb33f/libopenapi"
	"github.com/pb33f/libopenapi-validator/config"
	"github.com/pb33f/libopenapi-validator/schema_validation"
	"github.com/pb33f/libopenapi/datamodel"
	"github.com/pb33f/libopenapi/datamodel/high/base"
	v3 "github.com/pb33f/libopenapi/datamodel/high/v3"
	"github.com/pb33f/libopenapi/orderedmap"
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

// openapiVersion selects the dialect of the schemas.
const openapiVersion = 3.1

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
	side    Side
	model   *v3.Document
	options *config.ValidationOptions
}

func compile(side Side, document []byte) (*contract, error) {
	// No reference leads out of the documents, and nothing may be fetched.
	doc, err := libopenapi.NewDocumentWithConfiguration(document, &datamodel.DocumentConfiguration{})
	if err != nil {
		return nil, fmt.Errorf("reading the %s document: %w", side, err)
	}
	model, err := doc.BuildV3Model()
	if err != nil {
		return nil, fmt.Errorf("building the model of the %s document: %w", side, err)
	}
	c := &compiler{side: side, model: &model.Model, options: config.NewValidationOptions(config.WithFormatAssertions())}
	defer c.options.Release()
	result := &contract{enums: c.enums()}
	for path, item := range c.model.Paths.PathItems.FromOldest() {
		for method, op := range operationsOf(item) {
			compiled, err := c.operation(path, method, item, op)
			if err != nil {
				return nil, fmt.Errorf("compiling operation %s of the %s document: %w", op.OperationId, side, err)
			}
			result.operations = append(result.operations, compiled)
		}
	}
	return result, nil
}

// operationsOf lists the operations of a path in a fixed order.
func operationsOf(item *v3.PathItem) iter.Seq2[string, *v3.Operation] {
	return func(yield func(string, *v3.Operation) bool) {
		for _, o := range []struct {
			method    string
			operation *v3.Operation
		}{
			{http.MethodPost, item.Post},
			{http.MethodGet, item.Get},
			{http.MethodPatch, item.Patch},
			{http.MethodDelete, item.Delete},
		} {
			if o.operation != nil && !yield(o.method, o.operation) {
				return
			}
		}
	}
}

func (c *compiler) operation(path, method string, item *v3.PathItem, op *v3.Operation) (*operation, error) {
	result := &operation{
		Operation:  Operation{ID: op.OperationId, Side: c.side, Method: method, Path: path, Field: flag(op.Extensions, extField)},
		segments:   segmentsOf(path),
		parameters: map[string]*parameter{},
		responses:  map[string]*response{},
	}
	for _, p := range append(append([]*v3.Parameter{}, item.Parameters...), op.Parameters...) {
		compiled, err := c.parameter(p)
		if err != nil {
			return nil, fmt.Errorf("parameter %s: %w", p.Name, err)
		}
		result.parameters[p.Name] = compiled
		result.Parameters = append(result.Parameters, compiled.Parameter)
	}
	if op.RequestBody != nil {
		schema, err := c.schema(op.RequestBody.Content.GetOrZero(jsonType), schema_validation.SchemaValidationPurposeRequestBody)
		if err != nil {
			return nil, fmt.Errorf("request body: %w", err)
		}
		result.body = schema
		result.bodyMissing = op.RequestBody.Required == nil || !*op.RequestBody.Required
	}
	for status, r := range op.Responses.Codes.FromOldest() {
		compiled, err := c.response(status, r)
		if err != nil {
			return nil, fmt.Errorf("response %s: %w", status, err)
		}
		result.responses[status] = compiled
		result.Responses = append(result.Responses, compiled.Response)
	}
	return result, nil
}

func (c *compiler) parameter(p *v3.Parameter) (*parameter, error) {
	schema := p.Schema.Schema()
	result := &parameter{Parameter: Parameter{
		Name: p.Name, In: p.In, Required: p.Required != nil && *p.Required,
		Format: schema.Format, Minimum: schema.Minimum, Maximum: schema.Maximum, Enum: texts(schema.Enum),
	}}
	for _, t := range schema.Type {
		if t == "null" {
			result.Nullable = true
		} else {
			result.Type = t
		}
	}
	if schema.Default != nil {
		if err := schema.Default.Decode(&result.Default); err != nil {
			return nil, fmt.Errorf("reading the default: %w", err)
		}
	}
	if name := text(p.Extensions, extCommaSeparated); name != "" {
		items := c.model.Components.Schemas.GetOrZero(name)
		if items == nil {
			return nil, fmt.Errorf("%s names the unknown schema %q", extCommaSeparated, name)
		}
		result.List, result.Enum = true, texts(items.Schema().Enum)
	}
	compiled, err := c.compileSchema(schema, schema_validation.SchemaValidationPurposeGeneric)
	result.schema = compiled
	return result, err
}

func (c *compiler) response(status string, r *v3.Response) (*response, error) {
	result := &response{Response: Response{Status: status, BodyOptional: flag(r.Extensions, extBodyOptional)}}
	if r.Content == nil || r.Content.Len() == 0 {
		return result, nil
	}
	for contentType := range r.Content.KeysFromOldest() {
		result.ContentTypes = append(result.ContentTypes, contentType)
	}
	schema, err := c.schema(r.Content.GetOrZero(jsonType), schema_validation.SchemaValidationPurposeResponseBody)
	result.schema = schema
	return result, err
}

func (c *compiler) schema(media *v3.MediaType, purpose schema_validation.SchemaValidationPurpose) (*jsonschema.Schema, error) {
	if media == nil || media.Schema == nil {
		return nil, errors.New("no schema for " + jsonType)
	}
	return c.compileSchema(media.Schema.Schema(), purpose)
}

func (c *compiler) compileSchema(schema *base.Schema, purpose schema_validation.SchemaValidationPurpose) (*jsonschema.Schema, error) {
	compiled, err := schema_validation.CompileSchemaForValidation(schema, purpose, c.options, openapiVersion)
	if err != nil {
		return nil, fmt.Errorf("compiling the schema: %w", err)
	}
	return compiled.CompiledSchema, nil
}

type extensions = *orderedmap.Map[string, *yaml.Node]

func flag(e extensions, name string) bool {
	return text(e, name) == "true"
}

func text(e extensions, name string) string {
	if node := e.GetOrZero(name); node != nil {
		return node.Value
	}
	return ""
}

func texts(nodes []*yaml.Node) []string {
	var result []string
	for _, n := range nodes {
		result = append(result, n.Value)
	}
	return result
}
