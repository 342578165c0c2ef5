@control-plane @form
@record
Feature: Contract of the control plane
  Every response of the test run is compared with the OpenAPI document of the control plane: the status is declared,
  and content type and body match the schema, formats included.

  A conforming target may add fields to any object; send application/json with a charset, in upper or lower case;
  compress bodies with gzip, send them in chunks, slowly or pretty-printed; write date-times with any offset and
  precision; take 80 ms and more for every response, with jitter.

  @CP-CONTRACT-create-deployment @must @section-2 @section-4 @last
  @needs:create.body @writes
  Rule: Every create-deployment response matches the OpenAPI contract
    "Create a deployment; the response contains id and latest_revision_id."

    Scenario: Every create-deployment response in the test run matches the contract
      Given at least one response to "create-deployment" in the test run
      When all responses to "create-deployment" are compared with the contract
      Then all responses match the contract

  @CP-CONTRACT-get-deployment @must @section-2 @section-4 @last
  @reads
  Rule: Every get-deployment response matches the OpenAPI contract
    "Known fields: id (deployment id), latest_revision_id, source, source_revision_config, and a source_config object
    containing build_on_push (boolean)."

    Scenario: Every get-deployment response in the test run matches the contract
      Given at least one response to "get-deployment" in the test run
      When all responses to "get-deployment" are compared with the contract
      Then all responses match the contract

  @CP-CONTRACT-update-deployment @must @section-2 @section-4 @last
  @needs:create.body @writes
  Rule: Every update-deployment response matches the OpenAPI contract
    "Known fields: id (deployment id), latest_revision_id, source, source_revision_config, and a source_config object
    containing build_on_push (boolean)."

    Scenario: Every update-deployment response in the test run matches the contract
      Given at least one response to "update-deployment" in the test run
      When all responses to "update-deployment" are compared with the contract
      Then all responses match the contract

  @CP-CONTRACT-list-revisions @must @section-2 @section-4 @last
  Rule: Every list-revisions response matches the OpenAPI contract
    "200 ... RevisionsList ... 404 ... JSON object with detail string saying that the deployment id was not found ...
    422 ... HTTPValidationError"

    Scenario: Every list-revisions response in the test run matches the contract
      Given at least one response to "list-revisions" in the test run
      When all responses to "list-revisions" are compared with the contract
      Then all responses match the contract

  @CP-CONTRACT-get-revision @must @section-2 @section-4 @last
  @reads
  Rule: Every get-revision response matches the OpenAPI contract
    "GET /v2/deployments/{deployment_id}/revisions/{revision_id} ... Retrieve one revision (a Revision, with status)."

    Scenario: Every get-revision response in the test run matches the contract
      Given at least one response to "get-revision" in the test run
      When all responses to "get-revision" are compared with the contract
      Then all responses match the contract
