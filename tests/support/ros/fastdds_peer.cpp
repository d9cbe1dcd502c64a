// An independent DDS peer: Fast DDS, the library under rmw_fastrtps, carrying raw bytes.
//
//   fastdds_peer DOMAIN IN OUT TYPE [reliable|best_effort]
//
// Republishes on topic OUT every message that it hears on IN, both of TYPE, and prints
// "matched" and the number of messages. Loopback only. Ends when its input closes.
#include <chrono>
#include <cstring>
#include <iostream>
#include <memory>
#include <thread>
#include <vector>

#include <poll.h>
#include <unistd.h>

#include <fastdds/dds/domain/DomainParticipant.hpp>
#include <fastdds/dds/domain/DomainParticipantFactory.hpp>
#include <fastdds/dds/publisher/DataWriter.hpp>
#include <fastdds/dds/publisher/Publisher.hpp>
#include <fastdds/dds/subscriber/DataReader.hpp>
#include <fastdds/dds/subscriber/SampleInfo.hpp>
#include <fastdds/dds/subscriber/Subscriber.hpp>
#include <fastdds/dds/topic/TopicDataType.hpp>
#include <fastdds/dds/topic/TypeSupport.hpp>
#include <fastdds/rtps/transport/UDPv4TransportDescriptor.h>
#include <fastrtps/utils/IPLocator.h>

using namespace eprosima::fastdds::dds;
using eprosima::fastrtps::rtps::InstanceHandle_t;
using eprosima::fastrtps::rtps::Locator_t;
using eprosima::fastrtps::rtps::SerializedPayload_t;
using Bytes = std::vector<unsigned char>;

class RawType : public TopicDataType {
public:
    explicit RawType(const std::string& name) {
        setName(name.c_str());
        m_typeSize = 1 << 20;
        m_isGetKeyDefined = false;
    }
    bool serialize(void* data, SerializedPayload_t* payload) override {
        const auto& bytes = *static_cast<Bytes*>(data);
        std::memcpy(payload->data, bytes.data(), bytes.size());
        payload->length = bytes.size();
        payload->encapsulation = CDR_LE;
        return true;
    }
    bool deserialize(SerializedPayload_t* payload, void* data) override {
        auto& bytes = *static_cast<Bytes*>(data);
        bytes.assign(payload->data, payload->data + payload->length);
        return true;
    }
    std::function<uint32_t()> getSerializedSizeProvider(void* data) override {
        return [data] { return static_cast<uint32_t>(static_cast<Bytes*>(data)->size()); };
    }
    void* createData() override { return new Bytes; }
    void deleteData(void* data) override { delete static_cast<Bytes*>(data); }
    bool getKey(void*, InstanceHandle_t*, bool) override { return false; }
};

static DomainParticipantQos loopback() {
    DomainParticipantQos qos = PARTICIPANT_QOS_DEFAULT;
    auto udp = std::make_shared<eprosima::fastdds::rtps::UDPv4TransportDescriptor>();
    udp->interfaceWhiteList.push_back("127.0.0.1");
    qos.transport().use_builtin_transports = false;
    qos.transport().user_transports.push_back(udp);
    Locator_t local;
    eprosima::fastrtps::rtps::IPLocator::setIPv4(local, 127, 0, 0, 1);
    qos.wire_protocol().builtin.initialPeersList.push_back(local);
    qos.name("fastdds_peer");
    return qos;
}

int main(int argc, char** argv) {
    if (argc < 5) return 2;
    const bool reliable = argc < 6 || std::string(argv[5]) == "reliable";
    auto kind = reliable ? RELIABLE_RELIABILITY_QOS : BEST_EFFORT_RELIABILITY_QOS;
    auto* participant = DomainParticipantFactory::get_instance()->create_participant(
        std::stoi(argv[1]), loopback());
    if (!participant) return 3;
    TypeSupport type(new RawType(argv[4]));
    type.register_type(participant);
    auto* in = participant->create_topic(argv[2], argv[4], TOPIC_QOS_DEFAULT);
    auto* out = participant->create_topic(argv[3], argv[4], TOPIC_QOS_DEFAULT);
    DataReaderQos reader_qos = DATAREADER_QOS_DEFAULT;
    reader_qos.reliability().kind = kind;
    reader_qos.history().depth = 64;
    DataWriterQos writer_qos = DATAWRITER_QOS_DEFAULT;
    writer_qos.reliability().kind = kind;
    writer_qos.history().depth = 64;
    writer_qos.endpoint().history_memory_policy =
        eprosima::fastrtps::rtps::PREALLOCATED_WITH_REALLOC_MEMORY_MODE;
    reader_qos.endpoint().history_memory_policy =
        eprosima::fastrtps::rtps::PREALLOCATED_WITH_REALLOC_MEMORY_MODE;
    auto* reader = participant->create_subscriber(SUBSCRIBER_QOS_DEFAULT)
                       ->create_datareader(in, reader_qos);
    auto* writer = participant->create_publisher(PUBLISHER_QOS_DEFAULT)
                       ->create_datawriter(out, writer_qos);
    std::cout << "ready" << std::endl;
    size_t count = 0;
    pollfd input{STDIN_FILENO, POLLIN, 0};
    while (poll(&input, 1, 1) == 0) {
        Bytes bytes;
        SampleInfo info;
        while (reader->take_next_sample(&bytes, &info) == ReturnCode_t::RETCODE_OK) {
            if (!info.valid_data) continue;
            writer->write(&bytes);
            ++count;
        }
    }
    SubscriptionMatchedStatus heard;
    reader->get_subscription_matched_status(heard);
    std::cout << "writers " << heard.total_count << " messages " << count << std::endl;
    return 0;
}
