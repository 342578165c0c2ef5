@control-plane
Feature: Retrieving one revision
  A revision is one build-and-deploy of a deployment from a source. A client retrieves it by its id.

  @CP-REV-1 @must @section-2 @section-4
  Rule: GET of a revision returns the revision asked for, with every required field and none of them null
    Required are id, created_at, updated_at, status, source and source_revision_config. Their types and formats are
    judged by CP-CONTRACT-get-revision.

    Scenario: The revision is complete
      Given a deployment that is up
      When the client retrieves its latest revision
      Then the revision has every required field

    Scenario: Of two revisions each is answered under its own id
      Given a deployment that was updated to another source
      When the client retrieves both its revisions
      Then each answer is the revision that was asked for

  @CP-REV-2 @must @section-4
  Rule: GET of an unknown revision of an existing deployment is answered with 404

    Scenario: A revision that was never made is not found
      Given a deployment that is up
      When the client retrieves an unknown revision of it
      Then the answer is not found

  @CP-REV-3 @should @section-4
  Rule: GET of a revision under a deployment that it does not belong to is answered with 404

    Scenario: A revision asked for under another deployment is not found
      Given two deployments
      When the client retrieves the revision of the one under the other
      Then the answer is not found

  @CP-REV-4 @must @section-2
  Rule: The created_at of a revision never changes, and updated_at is never before created_at
    Each read is compared with the first one, which may show the revision while it was still being built. Times that
    differ in precision only are equal.
    Requires alternatives.repo_ref or alternatives.image_uri in the configuration.

    Scenario: The time of creation is the one that was shown while the revision was built
      Given a deployment that was updated to another source
      When the client retrieves each of its revisions twice
      Then each shows the time of creation that it had when it was polled first

    Scenario: A revision is not updated before it is created
      Given a deployment that was updated to another source
      When the client retrieves each of its revisions twice
      Then no revision was updated before it was created

  @CP-REV-5 @must @section-2
  Rule: A PATCH leaves the source_revision_config of earlier revisions unchanged
    Requires alternatives.repo_ref or alternatives.image_uri in the configuration.

    Scenario: A later update does not change an earlier revision
      Given a deployment that was updated to another source
      When the client retrieves its first revision
      Then the revision's source revision configuration is as it was before the update

  @CP-REV-6 @should @section-2
  Rule: The repo_commit_sha of a DEPLOYED git_host revision is the commit id that its repo_ref points to
    The expected commit id of each ref is that of alternatives.commits.
    Requires alternatives.commits in the configuration.

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
