@agent-server
Feature: Threads
  A thread is a conversation: it holds the runs of a graph, and the state that they leave. (interface, sections 2
  and 4)

  Background:
    Given a deployed agent server

  @AS-THREAD-1 @must @section-4
  Rule: A new thread has an id of its own

    Scenario: Creating a thread answers with its id
      When the user creates a thread
      Then the answer holds the id of a thread

    Scenario: Two new threads are two
      When the user creates two threads
      Then each has an id of its own

  @AS-THREAD-2 @must @section-4
  Rule: The list of threads holds one's own
    Which call lists the threads is configured: the plain list, or the search operation that is named beside it.

    Scenario: A new thread is in the list
      Given a thread of the user
      When the user lists the threads
      Then the list holds the thread
