#include "faults/scene.h"

#include <cstring>
#include <sstream>

std::vector<Scene> all_scenes() {
    std::vector<Scene> scenes;
    for (const auto &others :
         {scenes_of_declarations(), scenes_of_arrays(), scenes_of_plans(), scenes_of_queues(),
          scenes_of_checks(), scenes_of_parameters(), scenes_of_graphs(), scenes_of_scratch(),
          scenes_of_messages(), scenes_of_compiling(), scenes_of_lookups(), scenes_on_cuda()})
        scenes.insert(scenes.end(), others.begin(), others.end());
    return scenes;
}

void Stage::add(const char *name, polytile_type type, std::vector<int64_t> extents,
                bool is_written) {
    Field field = {name, type, std::move(extents), is_written, {}, {}, {}, {}, nullptr};
    int64_t n = 1;
    for (int64_t extent : field.extents)
        n *= extent;
    for (int64_t k = 0; k < n; k++) {
        const float f32 = static_cast<float>(k * 7 % 11);
        const double f64 = f32;
        const auto *bytes = type == POLYTILE_F32 ? reinterpret_cast<const unsigned char *>(&f32)
                                                 : reinterpret_cast<const unsigned char *>(&f64);
        field.before.insert(field.before.end(), bytes, bytes + polytile_type_get_bytes(type));
    }
    field.memory = field.before;
    fields.push_back(std::move(field));
}

void Stage::add_indices(const char *name, std::vector<int64_t> extents,
                        const std::vector<int32_t> &indices) {
    add(name, POLYTILE_F32, std::move(extents), false);
    Field &field = fields.back();
    field.type = POLYTILE_I32;
    std::memcpy(field.before.data(), indices.data(), field.before.size());
    field.memory = field.before;
}

polytile_status Stage::wrap(polytile_context *context, size_t field, polytile_array **array) {
    Field &of = fields[field];
    const polytile_status status =
        polytile_array_wrap(context, of.name.c_str(), of.type, static_cast<int>(of.extents.size()),
                            of.extents.data(), of.memory.data(), array);
    of.array = *array;
    return status;
}

polytile_status Stage::wrap_all(polytile_array **arrays) {
    for (size_t k = 0; k < fields.size(); k++)
        SCENE_TRY(wrap(ctx, k, &arrays[k]));
    return POLYTILE_OK;
}

void hand_back(polytile_queue *queue, polytile_array *const *arrays, int n_arrays) {
    for (int k = 0; k < n_arrays; k++)
        if (arrays[k] != nullptr)
            (void)polytile_queue_detach(queue, 1, &arrays[k]);
}

std::function<polytile_status(Stage &)> on_queue(const char *device_text, QueueLaunches launch) {
    return [=](Stage &stage) {
        std::vector<polytile_array *> arrays(stage.fields.size());
        polytile_queue *queue = nullptr;
        SCENE_TRY(polytile_queue_create(stage.ctx, device_text, &queue));
        const polytile_status status = launch(stage, queue, arrays.data());
        if (status != POLYTILE_OK) {
            stage.say();
            hand_back(queue, arrays.data(), static_cast<int>(arrays.size()));
        }
        return status;
    };
}

bool Stage::prints(const char *text) {
    std::istringstream lines(text);
    std::string line, lasting;
    while (std::getline(lines, line)) {
        if (line.find("plan_seconds") == std::string::npos &&
            line.find("planned in ") == std::string::npos)
            lasting += line + "\n";
    }
    if (n_printed_ == printed_.size())
        printed_.push_back(lasting);
    return printed_[n_printed_++] == lasting;
}

const char *Stage::path(const char *name) {
    for (const auto &[known, path] : paths_)
        if (known == name)
            return path.c_str();
    paths_.emplace_back(name, directory_ + "/" + name);
    return paths_.back().second.c_str();
}
