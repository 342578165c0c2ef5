@control-plane
Feature: Creating a deployment
  Creating a deployment is the first step of the intended flow. The response contains the id of the deployment and the
  id of its first revision.

  A conforming target may return 200, 201 or 202.

  @CP-CREATE-1 @must @section-1 @section-2 @section-4
  @creates:1
  Rule: POST /v2/deployments returns 200, 201 or 202 with UUIDs as id and latest_revision_id
    "the response body carries the deployment id and latest_revision_id, the id of the latest (and first) revision."

    Scenario: A new deployment has an id and a latest_revision_id
      When the client creates a deployment
      Then the request returns 200, 201 or 202
      And the fields "id" and "latest_revision_id" are UUID strings

  @CP-CREATE-2 @must @section-1 @section-4
  @shares:deployment
  Rule: A new deployment has one revision: latest_revision_id names it, GET and list return it
    "the response body carries the deployment id and latest_revision_id, the id of the latest (and first) revision."
    The list of revisions must contain this revision and no other.

    Scenario: The first revision can be retrieved and is the only one in the list
      Given a new deployment
      When the client retrieves its latest revision and lists its revisions
      Then the retrieved revision is the latest revision
      And the list contains only that revision

    @last
    @needs:create.body @record
    Scenario: No deployment of the test run has a second revision before its first update
      When all exchanges of the test run are read
      Then each deployment has only its first revision until its first update

  @CP-CREATE-3 @must @section-2
  @shares:deployment
  Rule: A new deployment and its first revision show the source and source_revision_config sent
    "For a Deployment resource the values refer to its latest revision; for a Revision resource they refer to that
    revision."
    The fields repo_ref, graph_config_path and image_uri are compared if the request sets them. Fields that the
    request does not set are not judged.

    Scenario: A deployment shows the source and source_revision_config of the create request
      Given a new deployment with a retrievable revision
      When the client retrieves the deployment
      Then the "source" of the deployment is that of the create request
      And the "source_revision_config" of the deployment holds the values of the create request

    Scenario: The first revision shows the source and source_revision_config of the create request
      Given a new deployment with a retrievable revision
      When the client retrieves its latest revision
      Then the "source" of the revision is that of the create request
      And the "source_revision_config" of the revision holds the values of the create request

  @CP-CREATE-4 @should @section-7 @form @after:CP-ERROR-4
  @writes
  Rule: An invalid POST returns 422 with an HTTPValidationError and creates no deployment
    "Invalid request parameters ... 422, HTTPValidationError (detail array of loc, msg, type)"
    Covers a missing or unknown source, also with a lone surrogate; a wrong JSON type of source, source_config,
    build_on_push, source_revision_config, repo_ref, graph_config_path or image_uri; a body that is not an object, not
    valid JSON, or empty. Some values of a wrong type are ones that many languages treat as absent (false, an empty
    array). Another 4xx passes and is noted; 2xx and 5xx fail.

    Scenario Outline: A create request with <mistake> returns 422
      When the client tries to create a deployment with <mistake>
      Then the request is refused with 422 and an HTTPValidationError, or with another 4xx
      And no deployment was created

      Examples:
        | mistake                            |
        | no source                          |
        | an unknown source                  |
        | a lone surrogate in source         |
        | a number as source                 |
        | null as source                     |
        | an array in place of the object    |
        | null in place of the object        |
        | a string in place of the object    |
        | a body that is not valid JSON      |
        | no body                            |

      @needs:create.body
      Examples:
        | mistake                                  |
        | an array as source_config                |
        | a string as source_revision_config       |
        | an empty array as source_revision_config |
        | a number as repo_ref or image_uri        |
        | false as repo_ref or image_uri           |
        | an object as repo_ref or image_uri       |
        | a number as graph_config_path            |
        | an array as build_on_push                |

  @CP-CREATE-5 @must @section-2
  @needs:alternatives.tag_ref @creates:1
  Rule: A deployment from refs/tags/ can have build_on_push false, and never has it true
    "When a tag is used, source_config.build_on_push must be false (tags are immutable)."
    If the request sends build_on_push true, or no build_on_push, the target may return 4xx, or accept the request and
    show build_on_push false. Applies to the source git_host.

    Scenario: Creating a deployment from a tag with build_on_push true returns 4xx, or it has build_on_push false
      When the client creates a deployment from the tag with build_on_push true
      Then the request is refused with 4xx, or build_on_push is never true with a tag ref

    Scenario: Creating a deployment from a tag without build_on_push returns 4xx, or it has build_on_push false
      When the client creates a deployment from the tag with build_on_push absent
      Then the request is refused with 4xx, or build_on_push is never true with a tag ref

    @shares:deployment
    Scenario: Creating a deployment from a tag with build_on_push false returns 200, 201 or 202
      Given a new deployment with a retrievable revision
      When the client creates a deployment from the tag with build_on_push false
      Then the request returns 200, 201 or 202

  @CP-CREATE-6 @must @section-2 @form
  @needs:edition @needs:create.refused @writes
  Rule: Source git_host returns 4xx on a self-hosted target, external_container on a cloud target
    "git_host is available only for cloud SaaS deployments; external_container only for self-hosted deployments."
    The refused request must create no deployment.

    Scenario: A source of the other edition returns 4xx
      When the client tries to create a deployment from a source that only the other edition offers
      Then the request is refused with 4xx
      And no deployment was created

    Scenario: A source of the other edition returns 4xx, even without source_config
      When the client tries to create a deployment from a source that only the other edition offers, without source_config
      Then the request is refused with 4xx
      And no deployment was created

  @CP-CREATE-7 @should @section-2
  @creates:1
  Rule: A create request cannot set read-only fields: they are ignored, or it returns 4xx
    "id ... Read-only. ... created_at ... Read-only. ... updated_at ... Read-only. ... status ... Read-only. ...
    repo_commit_sha ... Read-only commit SHA used."
    The request sends id, latest_revision_id, created_at, updated_at and status, and repo_commit_sha in
    source_revision_config. The response and the deployment are checked. Values that a revision shows belong to
    CP-INVARIANT-9.

    Scenario: Read-only fields in a create request are ignored, or the request returns 4xx
      When the client sends a create request with read-only fields
      Then the request is refused with 4xx, or the read-only fields are ignored
