@control-plane
Feature: Updating a deployment
  A value that is not null for repo_ref, graph_config_path or image_uri makes a new revision; nothing else does.
  (interface, sections 1, 2 and 4)

  @CP-UPDATE-1 @must @section-2 @section-4
  Rule: A new repo_ref makes exactly one revision

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
  Rule: A new graph_config_path makes exactly one revision

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
  Rule: A new image_uri makes exactly one revision

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
  Rule: An update without a new source makes no revision

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
  Rule: The source of a deployment cannot be changed

    Scenario: An update of the source leaves the source as it was
      Given a deployment that takes updates
      When the client tries to change its source
      Then the deployment's source is that of its creation

  @CP-UPDATE-6 @must @section-4
  Rule: An unknown deployment cannot be updated

    Scenario: An update of an unknown deployment is not found
      When the client updates an unknown deployment
      Then the answer is not found

  @CP-UPDATE-7 @should @section-2
  Rule: An update cannot set read-only fields

    Scenario: Read-only fields of the deployment are not taken over
      Given a deployment that takes updates
      When the client tries to set the read-only fields in an update
      Then the read-only fields are as they were

  @CP-UPDATE-8 @must @section-2
  Rule: No update makes a deployment stand with a tag and build_on_push
    Judged against what is stored: the one half of the combination stands, the update brings the other.

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
  Rule: A deployment shows the source revision configuration of its latest revision

    Scenario: A deployment never names the new revision and shows the values of an earlier one
      Given a deployment that was updated to another source
      When the client retrieves the deployment several times
      Then whenever it names the new revision, it shows what the update asked for

  @CP-UPDATE-10 @must @section-1 @section-3
  Rule: The new revision reaches DEPLOYED

    Scenario: Polling the new revision reaches DEPLOYED
      Given a deployment that was updated to another source
      When the client polls its latest revision
      Then the revision reaches DEPLOYED

  @CP-UPDATE-11 @should @section-7
  Rule: An update that makes no sense is refused as invalid, and makes no revision
    Answered 422 with the reasons. Another status of refusal is tolerated, and noted.

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
