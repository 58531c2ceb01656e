/// The way in which a server tells a process about the changes of others.
///
/// - Source: https://redis.io/docs/latest/develop/reference/client-side-caching/
public enum RedisTracking: Sendable, Hashable {
  /// The server reports every change of a key with the prefix of a cache, and remembers nothing.
  ///
  /// Each process receives the changes of all keys, on each of its connections.
  case byPrefix

  /// The server remembers which keys each connection has read, and reports their changes.
  ///
  /// It takes memory on the server, and less of the network if each process uses few of the keys.
  /// It reports also what the process writes itself: memory forgets that, and takes it from the
  /// server with the next get. Redis before 7.0.5 reports it before it answers, so that memory and
  /// server keep little of what this process stores. For a cluster it is the same as ``byPrefix``.
  case byKey

  /// The server reports nothing, so memory layers that follow it keep nothing, and what one process
  /// fetched may overwrite what another one has set meanwhile.
  case off
}
