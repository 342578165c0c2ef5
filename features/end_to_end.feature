@end-to-end
Feature: Create, deploy, call, update and call again
  The whole intended flow: a deployment is created, reaches DEPLOYED, serves its users, is updated, and serves them
  from the new revision.

  A conforming target may serve control plane and agent servers on one host under a path prefix, or on two hosts.

  @E2E-1 @must @section-1 @slow @after:AS-THREAD-1 @after:AS-RUN-1 @after:AS-STATE-1 @after:AS-STATE-2
  @needs:alternatives.repo_ref|alternatives.image_uri
  Rule: After create, poll to DEPLOYED, PATCH and poll, the agent server serves the new revision
    "(1) create a deployment with POST /v2/deployments ... until the revision status is DEPLOYED. (4) Update the
    deployment with PATCH /v2/deployments/{deployment_id}."
    The first user calls the agent server of the deployment before and after the PATCH. After it, the ai message must come
    from the new revision. That also holds after several updates in a row: the build of an earlier one may end later, but
    must not replace the latest. The graph configuration file is the one that graph_config_path names (section 2).

    @creates:1/1
    Scenario: A deployment is created, called, updated, and called again
      Given a DEPLOYED deployment created for this scenario
      When the user calls its agent server
      Then the agent server replies with an ai message
      Given the deployment was updated to the second source and is DEPLOYED again
      When the user calls its agent server again
      Then the ai message comes from the new revision
      And five further threads are served by the new revision

    @creates:1/1
    @needs:alternatives.graph_config_differs
    Scenario: After an update of graph_config_path, the agent server serves the graph of that file
      Given a DEPLOYED deployment created for this scenario
      When the user calls its agent server
      Then the agent server replies with an ai message
      Given the deployment was updated to the second graph_config_path and is DEPLOYED again
      When the user calls its agent server again
      Then the ai message comes from the new revision
      And five further threads are served by the new revision

    @creates:1/3
    Scenario: After several updates in a row, the agent server serves the last one
      Given a DEPLOYED deployment created for this scenario
      When the user calls its agent server
      Then the agent server replies with an ai message
      Given the deployment was updated three times in a row, last to the second source, and all revisions have settled
      When the user calls its agent server again
      Then the ai message comes from the new revision
      And five further threads are served by the new revision
