@control-plane
Feature: Creating a deployment
  The first step of the intended flow: create a deployment and learn its id and the id of its first revision.
  (interface, sections 1 and 2)

  @CP-CREATE-1 @must @section-1
  Rule: Creating answers with the id of the deployment and of its latest revision

    Scenario: A new deployment has an id and a latest revision
      When the client creates a deployment
      Then the creation succeeds
      And the answer holds the uuids "id" and "latest_revision_id"

  @CP-CREATE-2 @must @section-1
  Rule: The latest revision of a new deployment is its first and only one

    Scenario: The first revision can be retrieved, and the list holds just it
      Given a new deployment
      When the client retrieves its latest revision and lists its revisions
      Then the retrieved revision is the latest revision
      And the list holds just that revision

  @CP-CREATE-3 @must @section-2
  Rule: A new deployment has the source that was asked for

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
  Rule: A request that makes no sense is refused as invalid, and makes no deployment
    Answered 422 with the reasons. Another status of refusal is tolerated, and noted.

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
  Rule: No deployment stands with a tag and build_on_push
    Tags are immutable. The target may refuse the request, or accept it and show build_on_push false.

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
  Rule: A source of the other edition is refused
    A repository host belongs to the cloud, an external container to self-hosted targets.

    Scenario: A deployment from a source of the other edition is refused
      Given a source that only the other edition offers
      When the client tries to create a deployment from that source
      Then the request is refused
      And the refusal makes no deployment

  @CP-CREATE-7 @should @section-2
  Rule: Read-only fields of a request are not taken over

    Scenario: A creation that sets read-only fields does not choose them
      When the client creates a deployment and sets the read-only fields in the request
      Then the request is refused, or the read-only fields are the target's own
