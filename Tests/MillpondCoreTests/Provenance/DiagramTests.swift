import MillpondCore
import MillpondSignals
import MillpondTesting
import Testing

@Suite struct DiagramTests {
  let memory = MemoryCache<String, Int>(countLimit: 10)
  let disk = TestCache<String, Int>()
  let origin = TestOrigin<String, Int>()

  @Test func `a composition is drawn as a tree, layers of layers as one list`() {
    let cache = memory.named("memory").layered(
      over: disk.mapKeys { $0 }.named("disk").layered(over: origin.limited(to: 6)).reusingInFlight()
    )

    #expect(
      cache.diagram == """
        layered
        ├─ “memory” MemoryCache
        └─ reusing in flight · layered
           ├─ “disk” keys mapped · TestCache
           └─ limited to 6 · TestOrigin
        """)
    let nested = memory.layered(over: disk).layered(over: origin)
    #expect(
      nested.diagram == """
        layered
        ├─ MemoryCache
        ├─ TestCache
        └─ TestOrigin
        """)
  }

  @Test func `the erased composition is drawn as it is`() {
    let cache = memory.layered(over: disk)

    #expect(AnyCache(cache).diagram == cache.diagram)
  }

  @Test func `a named composition stays one`() {
    let cache = memory.layered(over: disk.layered(over: origin).named("below"))

    #expect(
      cache.diagram == """
        layered
        ├─ MemoryCache
        └─ “below” layered
           ├─ TestCache
           └─ TestOrigin
        """)
  }

  @Test func `the Mermaid form has a node for each layer, and escapes names`() {
    let cache = memory.named("a \"b\" <c>\n#").layered(over: disk)

    #expect(
      cache.mermaidDiagram == """
        flowchart TD
          n1["layered"]
          n2["“a #34;b#34; #60;c#62;#10;#35;” MemoryCache"]
          n1 -->|1| n2
          n4["TestCache"]
          n1 -->|2| n4
        """)
  }

  @Test func `a user's source has the name of its type`() {
    struct Answers: Source {
      func get(_ key: Int, _ lookup: Lookup) -> Signal<Int> { .just(42) }
    }

    #expect(Answers().diagram == "Answers")
    #expect(EmptyCache<Int, Int>().diagram == "EmptyCache")
  }
}
