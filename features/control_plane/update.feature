@control-plane
Feature: Updating a deployment
  PATCH with a non-null repo_ref, graph_config_path or image_uri creates a new revision. No other PATCH does.

  A conforming target may answer with 200, 201 or 202; refuse a PATCH that tries to change the source or read-only
  fields, or ignore these fields.

  @CP-UPDATE-1 @must @section-2 @section-4
  Rule: PATCH with a non-null repo_ref creates exactly one revision, and latest_revision_id names that revision
    Judged with a new value, with the current value, and together with graph_config_path, which must create one
    revision in total.
    Requires a create.body with the source git_host in the configuration.

    Scenario: Updating repo_ref makes one revision, and the deployment names it as the latest
      Given a second ref to build from
      And a deployment that takes updates
      When the client updates "repo_ref"
      Then exactly one new revision is made
      And the deployment names it as the latest

    Scenario: Updating repo_ref to the value that stands makes one revision too
      Given a source that has a "repo_ref"
      And a deployment that takes updates
      When the client updates "repo_ref" to the value that stands
      Then exactly one new revision is made
      And the deployment names it as the latest

    Scenario: Updating repo_ref and graph_config_path at once makes one revision, not two
      Given a "repo_ref" and a "graph_config_path" to build from
      And a deployment that takes updates
      When the client updates "repo_ref" and "graph_config_path" at once
      Then exactly one new revision is made
      And the deployment names it as the latest

  @CP-UPDATE-2 @must @section-2 @section-4
  Rule: PATCH with a non-null graph_config_path creates exactly one revision, and latest_revision_id names that revision
    Judged with a new value and with the current value.
    Requires a create.body with the source git_host in the configuration.

    Scenario: Updating graph_config_path makes one revision, and the deployment names it as the latest
      Given a second graph configuration file
      And a deployment that takes updates
      When the client updates "graph_config_path"
      Then exactly one new revision is made
      And the deployment names it as the latest

    Scenario: Updating graph_config_path to the value that stands makes one revision too
      Given a source that has a "graph_config_path"
      And a deployment that takes updates
      When the client updates "graph_config_path" to the value that stands
      Then exactly one new revision is made
      And the deployment names it as the latest

  @CP-UPDATE-3 @must @section-2 @section-4
  Rule: PATCH with a non-null image_uri creates exactly one revision, and latest_revision_id names that revision
    Judged with a new value and with the current value.
    Requires a create.body with the source external_container in the configuration.

    Scenario: Updating image_uri makes one revision, and the deployment names it as the latest
      Given a second image
      And a deployment that takes updates
      When the client updates "image_uri"
      Then exactly one new revision is made
      And the deployment names it as the latest

    Scenario: Updating image_uri to the value that stands makes one revision too
      Given a source that has an "image_uri"
      And a deployment that takes updates
      When the client updates "image_uri" to the value that stands
      Then exactly one new revision is made
      And the deployment names it as the latest

  @CP-UPDATE-4 @must @section-2 @section-4
  Rule: PATCH in which repo_ref, graph_config_path and image_uri are null or absent creates no revision
    Judged with an empty object, with build_on_push alone, with the three fields null, and with an empty
    source_revision_config.

    Scenario Outline: An update with <fields> makes no revision
      Given a deployment that takes updates
      When the client updates <fields>
      Then the deployment has no new revision

      Examples:
        | fields                                   |
        | nothing                                  |
        | build_on_push alone                      |
        | every source field to null               |
        | an empty source revision configuration   |

  @CP-UPDATE-5 @must @section-2
  Rule: PATCH cannot change the source of a deployment: GET still shows the source of the creation
    The status of the answer to PATCH is not judged.

    Scenario: An update of the source leaves the source as it was
      Given a deployment that takes updates
      When the client tries to change its source
      Then the deployment's source is that of its creation

  @CP-UPDATE-6 @must @section-4
  Rule: PATCH of an unknown deployment is answered with 404

    Scenario: An update of an unknown deployment is not found
      When the client updates an unknown deployment
      Then the answer is not found

  @CP-UPDATE-7 @should @section-2
  Rule: PATCH cannot set read-only fields of a deployment or of its latest revision
    Sent are id, latest_revision_id, created_at, updated_at and status, and repo_commit_sha in source_revision_config.
    The status of the answer to PATCH is not judged.

    Scenario: Read-only fields of the deployment are not taken over
      Given a deployment that takes updates
      When the client tries to set the read-only fields in an update
      Then the read-only fields are as they were

  @CP-UPDATE-8 @must @section-2
  Rule: No PATCH leaves a deployment with build_on_push true and a repo_ref under refs/tags/
    Judged against the stored values: one of the two is stored and PATCH sends the other. The target may refuse the
    request with a 4xx, or accept it and show build_on_push false. Applies to the source git_host.
    Requires alternatives.tag_ref in the configuration.

    Scenario: A deployment that builds on push does not keep doing so with a tag
      Given a tag to build from
      And a deployment of its own that builds on push
      When the client updates it to the tag
      Then the request is refused, or the deployment does not build on push

    Scenario: A deployment from a tag does not begin to build on push
      Given a tag to build from
      And a deployment of its own from the tag
      When the client updates it to build on push
      Then the request is refused, or the deployment does not build on push

  @CP-UPDATE-9 @must @section-2
  Rule: The source_revision_config of a deployment always belongs to the revision that its latest_revision_id names
    Judged on every answer that names the new revision, the first one after the PATCH included.
    Requires alternatives.repo_ref or alternatives.image_uri in the configuration.

    Scenario: A deployment never names the new revision and shows the values of an earlier one
      Given a deployment that was updated to another source
      When the client retrieves the deployment several times
      Then whenever it names the new revision, it shows what the update asked for

  @CP-UPDATE-10 @must @section-1 @section-3
  Rule: A revision that a PATCH has created reaches DEPLOYED in the configured time
    The time is timeouts.poll.
    Requires alternatives.repo_ref or alternatives.image_uri in the configuration.

    Scenario: Polling the new revision reaches DEPLOYED
      Given a deployment that was updated to another source
      When the client polls its latest revision
      Then the revision reaches DEPLOYED

  @CP-UPDATE-11 @should @section-7
  Rule: An invalid PATCH is refused with 422 and an HTTPValidationError, and creates no revision
    Judged are a wrong JSON type of source_config, source_revision_config, repo_ref or image_uri, and a body that is
    not an object or not valid JSON. Another 4xx passes and is noted; 2xx and 5xx fail.

    Scenario Outline: An update with <mistake> is refused
      Given a deployment that takes updates
      When the client tries to update the deployment with <mistake>
      Then the request is refused as invalid
      And the deployment has no new revision

      Examples:
        | mistake                                 |
        | a number as repository ref or image     |
        | a list as source configuration          |
        | a text as source revision configuration |
        | a list in place of the object           |
        | a body that is no JSON                  |
