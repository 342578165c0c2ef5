@control-plane
Feature: Retrieving one revision
  A revision is one build-and-deploy of a deployment from a source. (interface, sections 2 and 4)

  @CP-REV-1 @must @section-2 @section-4
  Rule: Retrieving a revision answers with the one asked for, complete

    Scenario: The revision is complete
      Given a deployment that is up
      When the client retrieves its latest revision
      Then the revision has every required field

    Scenario: Of two revisions each is answered under its own id
      Given a deployment that was updated to another source
      When the client retrieves both its revisions
      Then each answer is the revision that was asked for

  @CP-REV-2 @must @section-4
  Rule: An unknown revision of a known deployment is not found

    Scenario: A revision that was never made is not found
      Given a deployment that is up
      When the client retrieves an unknown revision of it
      Then the answer is not found

  @CP-REV-3 @should @section-4
  Rule: A revision is found only under its own deployment

    Scenario: A revision asked for under another deployment is not found
      Given two deployments
      When the client retrieves the revision of the one under the other
      Then the answer is not found

  @CP-REV-4 @must @section-2
  Rule: A revision's id and time of creation never change, and it is never updated before it is created

    Scenario: The time of creation is the one that was shown while the revision was built
      Given a deployment that was updated to another source
      When the client retrieves each of its revisions twice
      Then each shows the time of creation that it had when it was polled first

    Scenario: A revision is not updated before it is created
      Given a deployment that was updated to another source
      When the client retrieves each of its revisions twice
      Then no revision was updated before it was created

  @CP-REV-5 @must @section-2
  Rule: A revision keeps its own source revision configuration

    Scenario: A later update does not change an earlier revision
      Given a deployment that was updated to another source
      When the client retrieves its first revision
      Then the revision's source revision configuration is as it was before the update

  @CP-REV-6 @should @section-2
  Rule: A deployed revision from a repository tells the commit that its ref pointed to

    Scenario: The commit of the ref is shown
      Given a ref whose commit is known
      And a deployment that is up
      When the client retrieves its latest revision
      Then the revision carries the commit of its ref

    Scenario: The commit of another ref is another
      Given a second ref whose commit is known
      And a deployment that was updated to another source
      When the client retrieves its latest revision
      Then the revision carries the commit of its ref
