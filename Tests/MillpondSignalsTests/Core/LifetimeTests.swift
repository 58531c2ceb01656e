import Foundation
import MillpondSignals
import MillpondTesting
import Testing

@Suite struct LifetimeTests {
  let journal = Journal<String>()

  @Test func `the end runs every teardown once`() {
    let lifetime = Lifetime()
    for name in ["a", "b", "c", "d"] { lifetime.onEnd { journal.write(name) } }

    lifetime.end()
    lifetime.end()

    #expect(journal.entries.sorted() == ["a", "b", "c", "d"])
    #expect(lifetime.isEnded)
  }

  @Test func `teardowns with numbers run once with their own, however many there are`() {
    let lifetime = Lifetime()
    let numbers = Journal<Int>()
    for number in 1...3 { lifetime.onEnd(number) { numbers.write($0) } }

    lifetime.end()
    lifetime.end()
    lifetime.onEnd(4) { numbers.write($0) }

    #expect(numbers.entries.sorted() == [1, 2, 3, 4])
  }

  @Test func `a teardown that is added after the end runs at once`() {
    let lifetime = Lifetime()
    lifetime.end()

    lifetime.onEnd { journal.write("late") }

    #expect(journal.entries == ["late"])
  }

  @Test func `a child ends with its parent`() {
    let parent = Lifetime()
    let child = parent.child()
    child.onEnd { journal.write("child") }

    parent.end()

    #expect(child.isEnded)
    #expect(journal.entries == ["child"])
  }

  @Test func `a parent outlives its child`() {
    let parent = Lifetime()
    let child = parent.child()

    child.end()

    #expect(!parent.isEnded)
  }

  @Test func `the child of an ended lifetime has ended`() {
    let parent = Lifetime()
    parent.end()

    #expect(parent.child().isEnded)
  }

  @Test func `the end reaches grandchildren`() {
    let parent = Lifetime()
    let grandchild = parent.child().child()

    parent.end()

    #expect(grandchild.isEnded)
  }

  @Test(arguments: [1, 2, 3, 10])
  func `a child that ends is unlinked from its parent and released`(count: Int) {
    let parent = Lifetime()
    for _ in 0..<count {
      let child = parent.child()
      let witness = Witness { journal.write("released") }
      child.onEnd { _ = witness }
      child.end()
    }

    #expect(journal.count == count)
    #expect(!parent.isEnded)
  }

  @Test func `the end of a child leaves its siblings and the teardowns in place`() {
    let parent = Lifetime()
    let children = (0..<4).map { _ in parent.child() }
    parent.onEnd { journal.write("parent") }

    for child in children.dropFirst() { child.end() }
    let isFirstAlive = !children[0].isEnded
    parent.end()

    #expect(isFirstAlive)
    #expect(children[0].isEnded)
    #expect(journal.entries == ["parent"])
  }

  @Test func `a place that a child has left may be taken by a teardown`() {
    let parent = Lifetime()
    let child = parent.child()
    child.end()
    parent.onEnd { journal.write("in its place") }

    child.end()
    parent.end()

    #expect(journal.entries == ["in its place"])
  }

  @Test func `a teardown may end the lifetime and add teardowns`() {
    let lifetime = Lifetime()
    lifetime.onEnd {
      lifetime.end()
      lifetime.onEnd { journal.write("inner") }
      journal.write("outer")
    }

    lifetime.end()

    #expect(journal.entries == ["inner", "outer"])
  }

  @Test func `a capture that re-enters when it is released meets no lock`() {
    let lifetime = Lifetime()
    let other = lifetime.child()
    let witness = Box<Witness>()
    witness.put(
      Witness {
        lifetime.onEnd { journal.write("re-entered") }
        other.end()
      })
    lifetime.onEnd { witness.take() }

    lifetime.end()

    #expect(journal.entries == ["re-entered"])
  }

  @Test func `a child's teardown may re-enter the parent when it is released`() {
    let parent = Lifetime()
    let child = parent.child()
    do {
      let witness = Witness { parent.onEnd { journal.write("added by the release") } }
      child.onEnd { _ = witness }
    }

    child.end()
    parent.end()

    #expect(journal.entries == ["added by the release"])
  }

  @Test func `teardowns run once when many threads end and add at the same time`() async throws {
    for _ in 0..<300 {
      let lifetime = Lifetime()
      let runs = Watched(0)

      try await race(4) { index in
        for _ in 0..<5 { lifetime.onEnd { runs.change { $0 += 1 } } }
        if index.isMultiple(of: 2) { lifetime.end() }
      }

      #expect(runs.state == 20)
    }
  }

  @Test func `no teardown is lost to a child that is unlinked while its parent ends`() async throws
  {
    let families = (0..<100).map { _ in
      let parent = Lifetime()
      return (parent: parent, child: parent.child())
    }
    let turn = Watched(-1)
    let runs = Watched(0)

    try await race(2) { index in
      for (place, family) in families.enumerated() {
        // Both spin, so that the teardowns are added while the child is being unlinked.
        if index == 0 {
          while turn.state < place { sched_yield() }
          family.parent.end()
        } else {
          turn.change { $0 = place }
          while !family.child.isEnded { sched_yield() }
          for _ in 0..<10 { family.parent.onEnd { runs.change { $0 += 1 } } }
        }
      }
    }

    #expect(runs.state == 1_000)
  }

  @Test func `a family of lifetimes that is dropped before its end releases everything`() {
    do {
      let parent = Lifetime()
      let children = (0..<4).map { _ in parent.child() }
      for lifetime in [parent, children[3].child()] + children {
        let witness = Witness { journal.write("released") }
        lifetime.onEnd { _ = witness }
      }
    }

    #expect(journal.entries == Array(repeating: "released", count: 6))
  }

  @Test func `a child that outlives its parent ends by itself`() {
    let child = Lifetime().child()
    child.onEnd { journal.write("child") }
    let isAlive = !child.isEnded

    child.end()

    #expect(isAlive)
    #expect(journal.entries == ["child"])
  }

  @Test func `a child without other references ends with its parent`() {
    let parent = Lifetime()
    parent.child().onEnd { journal.write("child") }

    parent.end()

    #expect(journal.entries == ["child"])
  }

  @Test func `a child may end while its parent is dropped`() async throws {
    let runs = Watched(0)
    for _ in 0..<300 {
      let parent = Box<Lifetime>()
      parent.put(Lifetime())
      let children = (0..<4).compactMap { _ in parent.value?.child() }
      for child in children { child.onEnd { runs.change { $0 += 1 } } }

      try await race(2) { index in
        if index == 0 { parent.take() } else { for child in children { child.end() } }
      }
    }

    #expect(runs.state == 1_200)
  }

  @Test func `a parent may end, and be gone, while a child that has ended lets go of it`() {
    for _ in 0..<1_000 {
      let parent = Box<Lifetime>()
      parent.put(Lifetime())
      let child = parent.value?.child()
      child?.onEnd { journal.write("child") }

      // Between the end of the child and its teardown, as on another thread.
      child?.end(lastWords: {
        parent.value?.end()
        parent.take()
        // They reuse the parent's memory.
        for _ in 0..<4 { _ = Lifetime() }
      })
    }

    #expect(journal.entries == Array(repeating: "child", count: 1_000))
  }

  @Test func `the end of ten thousand siblings does not recurse`() {
    let parent = Lifetime()
    let children = (0..<10_000).map { _ in parent.child() }

    parent.end()

    #expect(children.allSatisfy { $0.isEnded })
  }
}
