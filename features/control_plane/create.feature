@control-plane
Feature: Creating a deployment
  Creating a deployment is the first step of the intended flow. The answer holds the id of the deployment and the id
  of its first revision.

  A conforming target may answer with 200, 201 or 202.

  @CP-CREATE-1 @must @section-1 @section-2 @section-4
  Rule: POST /v2/deployments answers 200, 201 or 202 with an object whose id and latest_revision_id are UUID strings

    Scenario: A new deployment has an id and a latest revision
      When the client creates a deployment
      Then the creation succeeds
      And the answer holds the uuids "id" and "latest_revision_id"

  @CP-CREATE-2 @must @section-1 @section-4
  Rule: The latest_revision_id of a new deployment names its first and only revision, which can be retrieved and is listed
    The list of revisions must hold this revision and no other.

    Scenario: The first revision can be retrieved, and the list holds just it
      Given a new deployment
      When the client retrieves its latest revision and lists its revisions
      Then the retrieved revision is the latest revision
      And the list holds just that revision

  @CP-CREATE-3 @must @section-2
  Rule: A new deployment and its first revision show the source and source_revision_config of the create request
    Compared are repo_ref, graph_config_path and image_uri, as far as the request gives them. Fields that the request
    does not give are not judged.

    Scenario: The source and its configuration are those of the request
      Given a deployment that was created
      When the client retrieves the deployment
      Then its source is the one that was asked for
      And its source revision configuration holds what was asked for

    Scenario: The first revision has the source and its configuration too
      Given a deployment that was created
      When the client retrieves its latest revision
      Then the revision's source is the one that was asked for
      And the revision's source revision configuration holds what was asked for

  @CP-CREATE-4 @should @section-7
  Rule: An invalid create request is refused with 422 and an HTTPValidationError, and creates no deployment
    Judged are a missing or unknown source; a wrong JSON type of source, source_config, source_revision_config,
    repo_ref or image_uri; a body that is not an object, not valid JSON, or empty. Another 4xx passes and is noted;
    2xx and 5xx fail.

    Scenario Outline: A creation with <mistake> is refused
      When the client tries to create a deployment with <mistake>
      Then the request is refused as invalid
      And the refusal makes no deployment

      Examples:
        | mistake                           |
        | no source                         |
        | an unknown source                 |
        | a number as source                |
        | a list as source configuration    |
        | a text as source revision configuration |
        | a number as repository ref or image |
        | a list in place of the object     |
        | a text in place of the object     |
        | a body that is no JSON            |
        | no body                           |

  @CP-CREATE-5 @must @section-2
  Rule: A deployment created from a repo_ref under refs/tags/ never has build_on_push true, and is accepted with build_on_push false
    Where the request asks for build_on_push true, or leaves it to the default, the target may refuse the request with
    a 4xx, or accept it and show build_on_push false. Applies to the source git_host.
    Requires alternatives.tag_ref in the configuration.

    Scenario: A deployment from a tag does not build on push
      Given a tag to build from
      When the client creates a deployment from the tag that builds on push
      Then the request is refused, or the deployment does not build on push

    Scenario: A deployment from a tag does not build on push by default
      Given a tag to build from
      When the client creates a deployment from the tag that says nothing about building on push
      Then the request is refused, or the deployment does not build on push

    Scenario: A deployment from a tag that does not build on push is accepted
      Given a tag to build from
      And a deployment that was created
      When the client creates a deployment from the tag that does not build on push
      Then the creation succeeds

  @CP-CREATE-6 @must @section-2
  Rule: The source git_host is refused with a 4xx on a self-hosted target, and external_container on a cloud target
    The refused request must create no deployment.
    Requires edition and create.refused in the configuration.

    Scenario: A deployment from a source of the other edition is refused
      Given a source that only the other edition offers
      When the client tries to create a deployment from that source
      Then the request is refused
      And the refusal makes no deployment

  @CP-CREATE-7 @should @section-2
  Rule: A create request cannot set read-only fields: they are ignored, or the request is refused with a 4xx
    Sent are id, latest_revision_id, created_at, updated_at and status, and repo_commit_sha in source_revision_config.
    Looked at are the answer, the deployment and its first revision.

    Scenario: A creation that sets read-only fields does not choose them
      When the client creates a deployment and sets the read-only fields in the request
      Then the request is refused, or the read-only fields are the target's own
