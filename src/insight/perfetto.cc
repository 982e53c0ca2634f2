#include "insight/perfetto.h"

#include <unistd.h>

#include <string_view>

#include "insight/proto_writer.h"

namespace headrace {
namespace {

// TracePacket, TrackEvent and TrackDescriptor of Perfetto's protos/perfetto/trace.
constexpr std::uint32_t kPacket = 1;
constexpr std::uint32_t kTimestamp = 8;
constexpr std::uint32_t kSequence = 10;
constexpr std::uint32_t kTrackEvent = 11;
constexpr std::uint32_t kTrackDescriptor = 60;
constexpr std::uint32_t kEventType = 9;
constexpr std::uint32_t kEventTrack = 11;
constexpr std::uint32_t kEventName = 23;
constexpr std::uint32_t kEventCounter = 30;
constexpr std::uint32_t kEventFlow = 47;
enum class Type : std::int64_t { kBegin = 1, kEnd = 2, kCounter = 4 };

constexpr std::int64_t kProcessTrack = 1;
constexpr std::int64_t kCounterTrack = 2;
constexpr std::int64_t kFirstThreadTrack = 16;

class Packets {
 public:
  Packets() {
    const auto process = static_cast<std::int64_t>(getpid());
    describe(ProtoWriter().number(1, kProcessTrack).message(3, ProtoWriter().number(1, process).text(6, "headrace")));
    describe(ProtoWriter()
                 .number(1, kCounterTrack)
                 .text(2, "batches ready")
                 .number(5, kProcessTrack)
                 .message(8, ProtoWriter()));
  }

  void add(const TraceThread& thread) {
    const std::int64_t track = kFirstThreadTrack + thread.id;
    const ProtoWriter descriptor =
        ProtoWriter().number(1, static_cast<std::int64_t>(getpid())).number(2, thread.id).text(5, thread.name);
    describe(ProtoWriter().number(1, track).number(5, kProcessTrack).message(4, descriptor));
    for (const TraceStep& step : thread.steps) {
      slice(track, "wait", step.begin_ns, step.ready_ns, 0);
      slice(track, "step", step.ready_ns, step.end_ns, 0);
    }
    for (const TraceSpan& span : thread.spans) {
      slice(track, stage_name(span), span.begin_ns, span.end_ns, flow_of(span));
    }
  }

  void add(const ReadyBatches& ready) {
    event(ready.at_ns, event_of(Type::kCounter, kCounterTrack).number(kEventCounter, ready.count));
  }

  const std::vector<std::uint8_t>& bytes() const { return trace_.bytes(); }

 private:
  // The spans of one batch of one stream hang together; 0: of no one batch.
  static std::uint64_t flow_of(const TraceSpan& span) {
    if (span.batch < 0 || span.stream == 0) return 0;
    return static_cast<std::uint64_t>(span.stream) << 40 | static_cast<std::uint64_t>(span.batch + 1);
  }
  static ProtoWriter event_of(Type type, std::int64_t track) {
    return ProtoWriter().number(kEventType, static_cast<std::int64_t>(type)).number(kEventTrack, track);
  }
  void slice(std::int64_t track, std::string_view name, std::int64_t begin_ns, std::int64_t end_ns,
             std::uint64_t flow) {
    ProtoWriter begin = event_of(Type::kBegin, track).text(kEventName, name);
    if (flow != 0) begin.fixed64(kEventFlow, flow);
    event(begin_ns, begin);
    event(end_ns, event_of(Type::kEnd, track));
  }
  void event(std::int64_t at_ns, const ProtoWriter& event) {
    trace_.message(kPacket, ProtoWriter().number(kTimestamp, at_ns).number(kSequence, 1).message(kTrackEvent, event));
  }
  void describe(const ProtoWriter& track) {
    trace_.message(kPacket, ProtoWriter().number(kSequence, 1).message(kTrackDescriptor, track));
  }

  ProtoWriter trace_;
};

}  // namespace

std::vector<std::uint8_t> to_perfetto(const std::vector<TraceThread>& timeline,
                                      const std::vector<ReadyBatches>& ready) {
  Packets packets;
  for (const TraceThread& thread : timeline) packets.add(thread);
  for (const ReadyBatches& count : ready) packets.add(count);
  return packets.bytes();
}

}  // namespace headrace
