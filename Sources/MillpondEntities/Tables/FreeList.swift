public import MillpondCore

/// A free list: the vacant places of an array that also shrinks.
///
/// Places behind the end may be left over in the list. They are passed over when their turn comes,
/// which is before the array grows again.
@usableFromInline
struct FreeList: Sendable {
  @usableFromInline var places = ChunkedArray<Int32>()

  /// The number of vacant places, without those left over.
  @usableFromInline private(set) var count = 0

  @usableFromInline
  init() {}

  @usableFromInline
  mutating func add(_ place: Int32) {
    places.append(place)
    count += 1
  }

  /// Takes a vacant place before `end`; nil if there is none.
  @usableFromInline
  mutating func take(before end: Int) -> Int32? {
    while let place = places.last {
      places.removeLast()
      if place < end {
        count -= 1
        return place
      }
    }
    return nil
  }

  /// Records that the last place of the array, which was vacant, has been given up.
  @usableFromInline
  mutating func giveUpLast() {
    count -= 1
  }

  /// Whether so many places are vacant that the array should shrink.
  @usableFromInline
  func areMost(of placeCount: Int) -> Bool {
    count > 1_024 && count > placeCount / 4 * 3
  }
}
