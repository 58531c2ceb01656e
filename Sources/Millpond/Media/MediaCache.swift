public import MillpondCore
public import MillpondSignals

/// Films, recordings, pictures: each as a complete file on this machine, fetched once for all who ask.
///
///     let films = MediaCache(disk, over: HTTPSource(), name: \.absoluteString)
///     let film = try await films.get(url).value
///     player.play(film.url)
///
/// A value is a ``DiskFile``: it stays as long as somebody holds it, and is not evicted meanwhile.
/// Bytes go from the network to the disk as they come. Where the network is faster, it waits for the
/// disk: a few megabytes are in memory between them; on Linux, whose `URLSession` can't wait, large
/// files are asked for in ranges for that. Whoever asks while a file is on its way joins,
/// late ones too, with its progress; when the last one leaves, the transfer ends. ``prefetch(_:)`` is
/// one who waits at low priority, and whom others may join.
///
/// If `network` is made with ``PartialTransfers``, a transfer that breaks off or is given up goes on
/// where it was when its file is asked for again. Of files that `disk` seals nothing is kept for that.
///
/// A file has no name extension. A player that needs to know its type is told by what the key says of it,
/// as with the option `AVURLAssetOverrideMIMETypeKey` of an `AVURLAsset`.
///
/// Who asked before a file was set or removed, or for one that there is no room for, still gets it; it
/// is not kept, and gone when nobody holds it. If the process dies before, the next one removes it.
///
/// - Note: Any thread.
public struct MediaCache<Key: Hashable & Sendable>: Cache {
  private typealias Layers = Layered<StoredFiles<Key>, Limited<Downloads<Key>>>

  private let shared: SharedFlights<Layers>
  private var flights: InFlightReuse<Layers> { shared.flights }

  /// Files that are kept by `disk`, and come from `network`.
  ///
  /// - Parameters:
  ///   - limit: How many transfers run at once; the others wait, the most urgent first.
  ///   - reserved: How many of these are kept for what is more urgent than a prefetch.
  ///   - name: The name under which `disk` keeps what belongs to a key.
  public init(
    _ disk: DiskCache, over network: HTTPSource<Key>, limitedTo limit: Int, reserved: Int = 1,
    name: @escaping @Sendable (Key) -> String
  ) {
    let stored = StoredFiles(disk: disk, name: name)
    let downloads = Downloads(stored: stored, network: network)
    shared = SharedFlights(
      stored
        .layered(over: downloads.limited(to: limit, reserved: reserved))
        .reusingInFlight(),
      endingWith: disk)
  }

  /// The file.
  public func get(_ key: Key, _ lookup: Lookup) -> Signal<DiskFile> { flights.get(key, lookup) }

  /// The file, with its age and its validator.
  public func getStamped(_ key: Key, _ lookup: Lookup) -> Signal<Stamped<DiskFile>> {
    flights.getStamped(key, lookup)
  }

  /// Keeps a copy of a file, or removes one or all from the disk: they stay where somebody holds them.
  ///
  /// To be copied, a file is read on the calling thread. The removal of all takes with it what the
  /// network's ``PartialTransfers`` keep, and what is on its way: when its outcome succeeds, no file has
  /// bytes of it but those that are held.
  public func apply(_ change: Change<Key, DiskFile>) -> Signal<Void> { flights.apply(change) }

  /// What the files are kept in, and where they come from.
  public func layout(for key: Key?) -> Layout { flights.layout(for: key) }

  /// Fetches a file that is not here, at low priority, and delivers nothing.
  ///
  /// Nobody decodes anything for it. Who asks for the file meanwhile joins, and makes it as urgent as
  /// it is to them. Disposing of it stops the transfer, unless somebody else waits for it.
  public func prefetch(_ key: Key) -> Signal<Void> {
    get(key, priority: .low).ignoreValues(as: Void.self)
  }
}

/// The flights of a media cache.
///
/// When everything is removed from its disk, also by others than the cache, no caller joins those that
/// have begun.
private final class SharedFlights<Layers: Source>: Sendable {
  let flights: InFlightReuse<Layers>
  private let listening = Locked<Disposable?>(nil)

  init(_ flights: InFlightReuse<Layers>, endingWith disk: DiskCache) {
    self.flights = flights
    // Weakly, since the flights keep the disk.
    let handle = disk.onRemoval { [weak self] in self?.flights.detachAll() }
    listening.withLock { $0 = handle }
  }

  deinit { listening.withLock { $0 }?.dispose() }
}
