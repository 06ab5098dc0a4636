# selfheal 对人说的所有话。编号与顺序与 en.ftl 相同，由测试保证。

lines = { $n } 行

# 正在做什么
progress-examine = 正在查找失败原因
progress-diagnose = 正在寻找修复办法，第 { $round } 轮
progress-model = 正在询问模型，第 { $round } 轮
progress-verify = 正在沙箱中试验：{ $what }
progress-wait = { $seconds } 秒后再试
progress-install = 正在沙箱中获取：{ $what }

# 经过
story-failed = { $command } 失败：{ $how }（事件 { $id }）
story-failed-by = { $command } 失败：{ $how }（事件 { $id }）
story-retried = { $command } 曾失败，重新运行后用 { $seconds } 秒成功（事件 { $id }）
story-repair = { $n } 行，风险{ $risk }，来自 { $source }
story-more = …… 还有 { $n } 行；全部内容：selfheal show ID --patch
story-proof = 在沙箱（{ $rung }）中 { $n } 项检查通过了 { $passed } 项
label-where = 位置
story-line-of-command = 命令的第 { $line } 行：{ $command }
label-error = 错误
label-why = 原因
label-repair = 修复
label-proof = 证明
label-done = 结果
label-undo = 撤销
label-next = 下一步
label-held = 待定
label-tried = 已尝试
label-guess = 最可能的原因
label-risk = 风险
label-job = 任务
label-when = 时间
label-until = 截止
label-changes = 更改
label-effect = 沙箱中
label-guard = 检查
label-blank = { "" }
label-note = 说明
label-hint = 提示

# 正在运行的任务在等待什么
waits-answer = 任务在等待：{ $process } 要求在终端回答：{ $asked }
waits-terminal = 任务在等待：{ $process } 要求有人在终端输入
waits-question = 任务似乎在等待回答：{ $asked }

# 任务已在运行时
overlap-skipped = { $command } 的上一次运行尚未结束；跳过本次运行
overlap-too-late = 截止时间已过，{ $command } 的上一次运行仍未结束；没有再次启动

# 结局
end-healed = 已应用并重新运行：退出码 { $code }，用时 { $seconds } 秒
end-healed-not-rerun = 已应用；没有重新运行，下次运行生效（这次退出码 { $code }）
end-retried = 重新运行后成功
end-held = 没有改动任何东西：修复已备好，等您决定
end-failed = 没有改动任何东西：没有找到修复办法
end-suspended = 没有改动任何东西：故障可能自行消失，但未能及时恢复
end-handed_over = 这里需要人处理；修改任务无济于事，或修改已被撤回
end-refused = 没有改动任何东西：修复被拒绝
end-limit = 没有改动任何东西：已达到限制
end-error = selfheal 自身无法继续；保留任务自己的退出码
end-succeeded = 成功
end-negative = 退出码是一个回答

# 为什么必须由人决定
hold-edited-just-now = 该文件在最近 30 分钟内被编辑过
hold-deployed-tree = 该文件在由机器部署的 git 目录中
hold-package-owned = 该文件属于软件包
hold-managed = 该文件注明由其他工具管理
hold-network-file-system = 该文件在网络文件系统上
hold-writable-by-others = 其他人可以写该文件
hold-changes-meaning = 该修复会改变读取或计算的内容
hold-goes-round = 它撤销了此任务以前的修复，或反复改动同一个值
hold-tie = 两个同样大小的修复都有效，但效果不同
hold-preview = 其背后的规则仍处于预览阶段；在设置的 [rules] promote 中列出即可启用
hold-changed-rule = 升级改动或新增了其背后的规则；运行 selfheal rules accept 后即可启用
hold-missing-mount = 它需要的文件夹在未挂载的挂载点上
hold-suddenly-empty = 一个从不为空的输入文件夹现在是空的
hold-general-knowledge = 依据的是一般知识，而不是本项目（[policy] general-knowledge 规定这时由谁决定）
hold-installs = 设置要求在放入软件包之前先问人（[repair] install = "ask"）
hold-inconclusive = 无法在这里试验
hold-unjudged = 无法判断

# 风险
risk-low = 低
risk-medium = 中
risk-high = 高

# 说明
note-taken-back = 修复后的任务在真实运行中失败；文件已恢复原样
note-file-changed = 在试验修复期间有人修改了该文件；文件保持其修改后的样子
note-daily-limit = 今天已按策略应用了 { $n } 个修复；这一个等待决定
note-storm = 多个任务因同一原因同时失败；在其消除之前不再尝试（已随事件 { $id } 通知）
note-picture-not-sent = 作业产生的图片没有发送给 { $model }：无法从图片中去除机密（send = "data" 允许发送）
note-waiting = 这个故障的修复已在等待：selfheal approve { $id }
note-breaker = 该任务连续 { $n } 次同样结束；在成功一次或批准修复之前不再尝试
note-spent-output = 没有重新运行：它已向管道或文件写过输出（可用 --stdout final）
note-spent-input = 没有重新运行：它的输入不能再读一次
note-not-repeatable = 没有重新运行：{ $why }（selfheal run --repeatable 表示可以）
note-proposal-changes-nothing = 给出的修复没有改动：作业已是这些文件
note-proposal-not-needed = 作业没有失败，所以没有用到给出的修复
note-unusual = 不寻常：{ $what }
note-left-running = 任务结束后仍在后台运行：{ $what }
note-left-running-more = 任务结束后仍在后台运行：{ $what } 以及另外 { $more } 个
note-failed-again = 事件 { $id } 的修复没有持久；文件已恢复原样
note-elsewhere = 它在 { $host } 上失败：会报告、在允许时重试、比较本机环境；不修改那边的任何东西
note-program = 它是程序而不是脚本：会报告、在允许时重试、比较环境；没有可以修改的东西
note-told-to-end = selfheal 在处理时收到结束信号（{ $signal }）；尚未开始的部分保持原样
hint-declared = { $place } 声明了 { $what }，但没有安装；在您的设置中写 [repair] install = "ask"，selfheal 即可代为安装
hint-allowed = { $place } 声明了 { $what }，但没有安装；手动安装：
hint-left = { $place } 声明了 { $what }，但没有安装，selfheal 也不会安装：{ $why }
hint-undeclared = 它在 { $what } 中；项目没有任何文件声明它，因此 selfheal 从不安装
note-install-failed = { $tool } 没有取得 { $what }：{ $why }
note-no-box = 本机无法建立沙箱，因此什么都没有试验：{ $why }

# 运行环境
env-path-lacks-last-good = PATH 缺少 { $command } 所在的 { $folder }；上次成功运行时有
env-path-lacks-login = PATH 缺少 { $command } 所在的 { $folder }；登录 shell 中有
env-not-set-last-good = { $name } 没有设置；上次成功运行时是 { $there }
env-not-set-login = { $name } 没有设置；登录 shell 中是 { $there }
env-differs-last-good = { $what }是 { $here }；上次成功运行时是 { $there }
env-differs-login = { $what }是 { $here }；登录 shell 中是 { $there }
env-locale-last-good = 区域设置是 { $here }；上次成功运行时是 { $there }
env-locale-login = 区域设置是 { $here }；登录 shell 中是 { $there }
env-no-terminal-last-good = 没有终端；上次成功运行时有
env-no-terminal-login = 没有终端；登录 shell 有
env-what-folder = 文件夹
env-what-user = 用户编号
env-what-umask = umask
env-what-locale = 区域设置
env-what-terminal = 终端
env-what-program = 程序
env-what-limit = { $name } 的限制
env-run = { $started } 的运行，退出码 { $code }
env-from-last-good = 与 { $started } 的上次成功运行相比：
env-from-login = 与登录 shell 相比：
env-no-last-good = 没有记录可供比较的成功运行
env-no-login = 登录 shell 没有及时回答
env-nothing = 没有不同
env-absent = （没有）
env-more = …… 还有 { $n } 项：--all

# 提问
ask-apply = 应用这个修复（风险{ $risk }）并重新运行任务吗？[y/N]
ask-policy-low = 无人值守时应用经过证明的低风险修复吗？[Y/n]
ask-policy-medium = 中风险的也应用吗？[y/N]
ask-model = OpenAI 兼容模型服务器的地址（空表示没有）：
ask-model-name = 模型在那里的名称：
ask-notify = 用哪个程序通知您，消息从标准输入给出（空表示没有）：
ask-timer = 安装每 10 分钟运行一次 `selfheal tick` 的定时器吗？[y/N]

# 消息
message-held = selfheal：{ $command } 的修复等您决定
message-healed = selfheal：{ $command } 已修复
message-failed = selfheal：{ $command } 失败，无法修复
message-suspended = selfheal：{ $command } 因可能自行消失的原因一直失败
message-handed_over = selfheal：{ $command } 需要人处理
message-rolled_back = selfheal：{ $command } 的修复没有持久；文件已恢复原样
message-refused = selfheal：{ $command } 的修复被拒绝
message-limit = selfheal：{ $command } 失败，并已达到限制
message-error = selfheal：{ $command } 失败，selfheal 无法继续
message-slow = selfheal：{ $command } 已运行 { $taken } 秒
message-slow-why = 这超过其 { $runs } 次正常运行中最长一次（{ $longest } 秒）的三倍。它将继续运行，直到截止时间。
message-approve = 批准：selfheal approve { $id }
message-approve-until = 请在 { $until } 之前批准：selfheal approve { $id }
message-look = 先看一看：selfheal show { $id } --patch
message-storm = selfheal：{ $n } 个任务在十分钟内因同一原因失败
message-storm-why = 它们共用的某样东西坏了。针对此原因的修复已停止；请先修好它。
message-several = selfheal：{ $n } 条消息
message-more = …… 还有 { $n } 条：selfheal incidents
message-test = { $host } 上的 selfheal 可以在这里通知您
message-test-text = 这是测试：selfheal notify test。一切正常。
undelivered = { $n } 条消息始终未被 { $channel } 接收：{ $why }
expired-unanswered = 事件 { $id }：无人按时答复；修复已过期，未作任何更改
expired-changed = 事件 { $id }：文件在此期间被更改；修复已过期，未作任何更改
message-show = 详情：selfheal show { $id }

# 其他命令
recovered = 事件 { $id }：其进程在 { $was } 时结束；现在是 { $now }
frozen = selfheal 已冻结：在 `selfheal thaw` 之前所有任务都不经修复直接运行
thawed = selfheal 已解冻
undone = { $n } 个文件已恢复到事件 { $id } 之前
undone-force = 原有内容已保存；恢复：selfheal redo { $id }
undo-clash = { $path } 在修复之后被改动过：
undo-side-repair = 修复后的内容
undo-side-before = 修复前的内容
undo-side-now = 现在的内容
redone = { $n } 个文件已重新变为事件 { $id } 的修复结果
approved = 事件 { $id }：已应用；下次运行生效。撤销：selfheal undo { $id }
knowledge-none = 尚未添加任何文档；任务旁边的文档仍会被读取
knowledge-documents = { $n } 个文档
knowledge-nothing-fits = 没有匹配的内容
knowledge-read = 已读取 { $n } 个文档
knowledge-same = { $n } 个未变
knowledge-gone = { $n } 个已不存在
knowledge-left-out = 未收录：{ $what }
knowledge-binary = { $n } 个不是文本
knowledge-secret = { $n } 个含有机密
knowledge-links = { $n } 个链接
knowledge-special = { $n } 个特殊文件
knowledge-unreadable = { $n } 个无法读取
knowledge-beyond = { $n } 个超出限制
knowledge-cut = 名称过多：并未全部查看
knowledge-missing = 无法访问 { $path }；之前读取的内容仍保留
memory-none = 尚未记住任何修复
memory-forgotten = { $id }：已忘记
memory-imported = 已接收 { $n } 个记住的修复；每个在使用前都会重新验证
memory-line = 成功 { $wins } 次，失败 { $losses } 次，学于 { $when }
memory-expired = 不再使用：{ $why }
stats-none = 尚无统计
stats-incidents = 事件：{ $list }
stats-makers = 修复来源：{ $list }
stats-counts = 按故障类别和命令统计的正确情况：
rejected = 事件 { $id }：已拒绝；没有改动任何东西
noted = 事件 { $id }：已记下；selfheal show { $id } 和报告会显示
review-title = selfheal review：{ $n } 个修复等待决定
review-marked = ，已标记 { $n } 个
review-none = 没有等待决定的修复。
review-keys = a 批准  r 拒绝  e 编辑  空格 标记  回车 整页  ? 帮助  q 退出
review-confirm = 应用 { $n } 个修复？y/n
review-reason = 拒绝 { $n } 个；原因？（回车拒绝，Esc 返回）
review-changed = 修复生成后文件已被更改：无法应用；请重新运行任务。
review-approved = 已应用 { $n } 个
review-rejected = 已拒绝 { $n } 个
review-trying = 正在沙箱中试运行编辑后的修复……
review-not-edited = 没有作任何编辑
review-edit-passed = 编辑后的修复已通过并取代原修复；按 a 应用
review-edit-failed = 编辑后的修复未被采用：{ $why }
review-fails-no-more = 任务在这里已不再失败，因此无法证明任何修复有用
review-enter = 按回车返回。
review-help-1 = 上下键，j k     浏览等待的修复（整页时滚动页面）
review-help-2 = PgUp PgDn Home End   滚动页面
review-help-3 = 回车，Tab       整页显示，或还原
review-help-4 = 空格            标记；之后 a 和 r 作用于所有已标记的
review-help-5 = a               确认后应用；不运行任何东西
review-help-6 = r               拒绝，并说明原因
review-help-7 = e               编辑修复后的文件（$VISUAL、$EDITOR）；会重新评判并试运行
review-help-8 = q，Esc，Ctrl-C  退出；未决定的继续等待
report-title = { $host } 上的 selfheal：{ $since } 至 { $until }
report-overview = 概览
report-failures = 失败
report-healed-by = 由{ $tier }修复
report-retried = 重新运行后成功
report-was-held = 等待决定
report-was-failed = 未修复
report-was-suspended = 因可能自行消失的原因一直失败
report-was-handed-over = 移交给人
report-was-refused = 被拒绝
report-was-limit = 达到限制而停止
report-was-error = selfheal 无法继续
report-was-rolled-back = 修复后又撤回
report-was-expired = 在有人决定之前过期
report-was-succeeded = 成功
report-was-negative = 是一个回答
report-was-healed = 已修复，尚未观察
report-rounds = 每次修复的平均轮数
report-saved = 节省的时间（估计）
report-hours = { $hours } 小时
report-saved-how = 估计按每次修复 { $repair } 分钟人工、每次重新运行后成功 { $retry } 分钟计算。
report-tokens = 模型令牌数
report-cost = 模型费用（以所设价格的货币计）
report-models = 模型用量
report-model = { $n } 次调用，{ $tokens } 个 token，费用 { $cost }
report-no-price = 未设置价格时，费用计为 0：[model] price-in 和 price-out。
report-undelivered = 无人接收的消息
report-waiting = 等待决定的
report-would = 若获允许本会应用的
report-allow = 今后允许应用此类修复：
report-proof = { $made } 项检查中通过 { $passed } 项，风险{ $risk }，现为 { $state }
report-again = 反复出现、值得真正修复的
report-times = { $n } 次
report-notes = 人们记下的
report-chart-days = 每日失败
report-chart-tiers = 由谁修复
report-is-healed = 已修复
report-is-waiting = 等待中
report-is-failed = 未修复
tier-rule = 规则
tier-memory = 记忆
tier-model = 模型
tier-given = 人
tier-retry = 重新运行
allowed = { $job }：风险不高于{ $risk }、经过证明的修复可无人值守应用
allowed-none = { $job }：修复等待人决定
audit-good = 记录完整：{ $n } 条
audit-compared = 已与日志比对：{ $n } 个头一致，{ $others } 个属于其他记录
audit-reset = 已开始新的记录；旧记录保存在 { $file }
rules-accepted = 可以生效
rules-preview = 预览中：其提议等待人决定
rules-off = 已在设置中关闭
rules-new = 升级后新增：其提议在接受之前等待
rules-changed = 被升级改动：其提议在接受之前等待
rules-accepted-now = { $n ->
    [0] 没有需要接受的规则
   *[other] 已接受 { $n } 条规则：{ $names }
}
gc-would = 将清除（超过 { $days } 天）：{ $incidents } 个事件、{ $runs } 次运行、{ $messages } 条消息、{ $files } 个文件；{ $size } MiB 中的 { $mib } MiB
gc-done = 已清除（超过 { $days } 天）：{ $incidents } 个事件、{ $runs } 次运行、{ $messages } 条消息、{ $files } 个文件；{ $size } MiB 中的 { $mib } MiB
gc-daily = 已清除 { $n } 个旧事件
no-incidents = 没有事件
tick-done = 送达 { $messages }，确认 { $confirmed }，恢复 { $recovered }
init-written = 已写入：{ $file }
init-timer = 定时器已安装：selfheal tick 每 10 分钟运行一次
demo-folder = 示例在 { $folder }；结束时连同 selfheal 的记录一起删除。
demo-job = crontab 里的一个备份任务。它正常运行了几个月；今天日志文件夹是空的，备份文件夹也不见了：
demo-run = selfheal run --apply low -- bash backup.sh
demo-end = 对您自己的任务也一样：selfheal run -- 命令

# Cron
cron-wrapped = 已包装
cron-bare = 未包装
cron-unknown-line = 不是 cron 能理解的内容
cron-none = 没有找到 cron 任务
cron-left = 第 { $line } 行保持不变：{ $why }
cron-not-wrapped-already = 前面已有 selfheal
cron-not-wrapped = 前面没有 selfheal
cron-not-shell = 该表的 SHELL 的引号规则与 sh 不同
cron-not-program = 它不启动任何程序
cron-not-long = 会超过 cron 允许的长度
cron-not-reversible = 无法逐字节还原
cron-nothing = 没有要改动的内容
cron-preview = 尚未改动任何东西；加上 --write 才会写入
cron-written = 已写入 { $n } 个任务

# 概览
survey-label-runs = 运行
survey-label-try = 沙箱
survey-label-seen = 可见
survey-label-advice = 建议
survey-try-yes = 可以试验
survey-try-no = 目前不行：{ $why }
survey-block-rights = { $what } 需要沙箱没有的权限
survey-block-remote = { $what } 在另一台机器上工作
survey-block-daemon = { $what } 与守护进程通信
survey-block-network = { $what } 需要网络
survey-block-database = { $what } 与数据库通信
survey-block-missing = { $what } 不存在
survey-block-unreadable = { $what } 无法读取
survey-block-binary = { $what } 是二进制程序
survey-seen-selfheal = 是：selfheal 会记录，可用 selfheal incidents 查看
survey-seen-mail = 是：cron 把输出寄给 { $place }
survey-seen-no-mail = 否：MAILTO 为空
survey-seen-no-mailer = 否：cron 会寄给 { $place }，但本机没有 sendmail
survey-seen-discarded = 否：错误输出到 /dev/null
survey-seen-file = 否：错误只写入 { $place }
survey-seen-log = 否：输出只进系统日志
survey-seen-masked = 否：无论发生什么都算成功
survey-seen-handler = 是：会启动 { $place }
survey-seen-journal = 否：只有 { $place } 的日志里有
survey-advice-none = 无
survey-advice-missing = 改正路径；它每次都会失败
survey-advice-unmask = 去掉掩盖退出码的部分，再包装
survey-advice-wrap = { $command }
survey-advice-wrap-report = { $command }（会告知失败，并在有用时重试；修复无法试验）
survey-advice-unit = { $command } – 在 ExecStart 前加 selfheal run --，或设置 OnFailure=
survey-advice-periodic = 改由 /etc/cron.d 中的一行启动，并包装该行
survey-label-missed = 错过
survey-missed = 应在 { $when } 运行，但没有记录
survey-advice-due = 查看 cron 是否在运行，当时机器是否开机
message-missed = selfheal：{ $job } 应在 { $when } 运行，但没有运行
message-missed-next = 该行在 { $place } 中。请查看 cron 是否在运行，当时机器是否开机。
survey-sum = { $n } 个任务：{ $wrapped } 个已包装，{ $tried } 个可在沙箱试验，{ $unseen } 个失败时无人看见

# 检查
check-danger = 危险程度 { $danger }，{ $files } 个文件中有 { $n } 处发现
check-masked = 这个修改掩盖了故障
check-not-masked = 这个修改没有掩盖故障；其风险为 { $risk }
check-unjudged = 有内容无法判断，需要人来查看

# 试运行
try-ran = 命令在 { $seconds } 秒后以退出码 { $code } 结束；它在沙箱里做了以下改动
try-doubt = 如此结束的原因可能是沙箱：{ $why }
try-network = 它试图使用网络，而沙箱没有网络
try-created = 新建
try-created-folder = 新建文件夹
try-changed = 修改
try-appended = 追加
try-attributes = 修改权限、属主或时间
try-deleted = 删除
try-remark-not_a_file = 不是文件；不会放到原位
try-remark-several_names = 有多个名字；将就地改写
try-remark-rights_left_out = 略去 setuid、setgid 或 capability
try-more = … 还有 { $n } 个；全部：--json 文件
try-left-out = 另有 { $n } 个未显示
try-sum = 新建 { $created }，修改 { $changed }，删除 { $deleted }
try-nothing = 没有改动任何东西
try-ask = 放到原位吗？[a] 全部，[s] 部分，[l] 以后，否则丢弃 [N]
try-ask-which = 哪些路径？每行一个路径或模式，空行结束：
try-ask-more = 找到 { $n } 个；还有：
try-thrown-away = 已丢弃；没有改动任何东西
try-kept = 已保留。放到原位：selfheal try --commit { $id }
try-committed = { $n } 个路径已放到原位。撤销：selfheal undo { $id }
try-not-committed = 没有放到原位：{ $why }
try-not-committed-failed = 没有放到原位：命令失败
try-none-below = 这些路径及其下没有任何改动
try-hint-kept = 命令所做的改动已保留：selfheal try --show { $id }
try-none = 没有保留任何东西
try-dropped = { $id }：已丢弃
try-line = { $id } { $when } { $state } { $command }
try-state-kept = 已保留
try-state-committed = 已在原位
try-state-undone = 已撤销
try-undone = { $n } 个路径已恢复到 { $id } 之前
try-redone = { $n } 个路径已重新变为 { $id } 的结果
try-recovered = 某进程结束时正在放置的改动现已全部到位；撤销：selfheal undo { $id }
try-recovered-back = 某进程结束时正在撤销的改动现已全部撤销（{ $id }）
try-recovered-not = 某进程结束时正在进行的改动现已全部还原（{ $id }）
transaction-network = 任务试图使用网络，而事务无法撤销网络操作；--transaction=files-only 可在没有网络的情况下继续
transaction-mail = 任务发送邮件（{ $command }），而事务无法撤销；--transaction=files-only 可继续
transaction-doubt = 任务如此结束的原因可能是沙箱：{ $why }
transaction-refused = 已拒绝，没有改动任何东西：{ $why }
transaction-committed = { $n } 个路径已放到原位；撤销：selfheal undo { $id }

# Tasks
task-step-started = 步骤 { $step }：已开始
task-step-succeeded = 步骤 { $step }：完成，用时 { $seconds } 秒
task-step-negative = 步骤 { $step }：回答为否（退出码 { $code }），用时 { $seconds } 秒
task-step-failed = 步骤 { $step }：{ $seconds } 秒后失败，退出码 { $code }：{ $why }
task-step-cancelled = 步骤 { $step }：{ $seconds } 秒后结束，因为任务被要求结束
task-step-skipped = 步骤 { $step }：不需要
task-step-blocked = 步骤 { $step }：未运行
task-step-handed-over = 步骤 { $step }：可能已经做完；需要由人确认
task-step-healed = （已修复：{ $summary }；事件 { $id }）
task-step-again = (重新运行后正常;事件 { $id })
task-step-waits = 步骤 { $step }：{ $text }
task-end-succeeded = 任务 { $task } 完成，用时 { $seconds } 秒（运行 { $run }）
task-end-failed = 任务 { $task } 在 { $seconds } 秒后失败（运行 { $run }）
task-end-handed-over = 任务 { $task } 需要一个决定（运行 { $run }）
task-end-cancelled = 任务 { $task } 在 { $seconds } 秒后被要求结束（运行 { $run }）
task-end-timed-out = 任务 { $task } 没有在期限内结束（运行 { $run }）
task-which = { "  " }步骤 { $step }
task-what = { "  " }  出了什么问题：{ $text }
task-reason = { "  " }  可能的原因：{ $text }
task-do = { "  " }  该做什么：{ $text }
task-output = { "  " }  它的输出：{ $path }
task-approve = { "  " }  一个经过验证的修复在等待：selfheal approve { $id }
task-decide = { "  " }  它可能已经做完全部或一部分，不会自动重做：请查看后，在下面的命令后加上 --done { $step } 或 --again { $step }
task-left = { "  " }留下了：{ $path }
task-resume = { "  " }从那里继续：selfheal task resume { $run }
task-cleanup-failed = { "  " }清理没有成功：{ $what }：{ $why }
task-waits = 在等待 { $what }，自 { $since } 起由 { $who } 占用
task-busy = { $what } 自 { $since } 起由 { $who } 占用
task-somebody = 某个进程
task-stale-lock = { $what } 仍标记为自 { $since } 起由 { $who } 占用，但它已不存在；已接管
task-broken-off = 此任务先前的运行 { $run } 中断于：{ $steps }
task-half-written = { "  " }留下了可能只写了一半的文件：{ $path }
task-temp-removed = { "  " }那次运行的临时文件夹已删除：{ $path }
task-temp-stays = 运行 { $run } 的临时文件夹无法删除：{ $why }
task-still-works = 中断的运行的步骤 { $step } 仍在工作（进程 { $process }）；等待它结束
task-changed = 任务文件自运行开始后有改动：{ $what }
task-changed-step = 已改动：{ $step }
task-changed-new = 新增：{ $step }
task-changed-gone = 已删除：{ $step }
task-changed-ended = 步骤 { $step } 在结束之后被改动，不会再次运行
task-changed-ask = 用改动后的文件继续吗？
task-input-missing = 它要读取的 { $path } 不存在
task-output-missing = 步骤 { $step } 写出的 { $path } 已不存在
task-network = 它试图使用网络，而沙箱中的步骤没有网络：如果必须，请设置 effects = "any"
task-outside = 它写到了 { $path }，不在允许的路径之内；没有任何改动生效
task-doubt = 结果可能是沙箱造成的：{ $why }；要在本机上运行，请设置 effects = "any"
task-no-box = 步骤 { $step } 没有沙箱可用，因此在本机上运行：{ $why }
task-not-apart = 有步骤与本机共享了本应独立的内容：无法 { $why }
task-swept = 因为步骤有自己的进程空间，以下进程随它一起结束（isolation = "shared" 可让它们继续运行）：{ $what }
task-hint-processes = 它只看得到自己的进程；如果必须访问本机的其他进程，请设置 isolation = "shared"
task-hint-temp = 它提到了本机 /tmp 中的内容，而这个任务自己的 /tmp 里没有；如果必须看到，请设置 isolation = "shared"
task-shares-temp = 任务使用本机的 /tmp，因为它提到了 { $what }
task-no-own-temp = 任务使用本机的 /tmp：{ $why }
task-shares-processes = 步骤 { $step } 与本机共享进程：它提到了 { $what }
task-repair-in-copy = 步骤 { $step } 只在这次运行中修复了；请把改动写进任务文件，或写进单独的脚本：selfheal show { $id }
task-told-to-end = 它被要求结束
task-step-late = 它没有在 { $seconds } 秒内结束
task-ended-with = 它以退出码 { $code } 结束
task-step-died = 它的进程没有留下结果就结束了
task-valid = { $file }：任务 { $task }，{ $n } 个步骤：没有问题
task-cancel-told = 已要求任务 { $task } 的运行 { $run } 结束
task-cancel-closed = 任务 { $task } 的运行 { $run } 已关闭；没有进程在处理它
task-cancel-over = 任务 { $task } 的运行 { $run } 已经结束：{ $stage }
task-none = 还没有运行过任务
task-damaged = 运行 { $run } 的状态文件无法使用，因此不知道它做到了哪一步：{ $why }
task-make-room = 先腾出磁盘空间再继续：已经记下的都没有丢失
task-kept = 任务 { $task } 的进度已保存：selfheal task resume { $run }
task-lets-end = 不再开始新的步骤；等待正在运行的步骤结束：{ $steps }
task-waited-in-vain = 它在等待时被要求结束：{ $why }
task-folder-gone = 本次运行的文件夹 { $path } 在运行中被删除，已重新建立
task-no-folder = 任务文件所在的文件夹 { $path } 已经不在了
task-put-it-back = 把它放回原处
task-output-cut = 它的输出有 { $bytes } 字节：文件里只有开头 { $kept } 字节和结尾（见 [limits] 的 step-output）
task-left-running = 它留下 { $command } 仍在运行（进程 { $process }）
task-box-full = 它在沙箱里的改动没有空间可写，什么都没有落到原处：{ $why }
task-script-waits = 它的脚本已经写好，等待查看：selfheal write --show { $id }，然后 selfheal write --keep { $id }
write-ask = 保留这个脚本吗？
write-waits = 没有改动任何东西：脚本在等待；保留它：selfheal write --keep { $id }
write-kept = 已保存为 { $path }
write-kept-step = 已保留：该步骤从现在起运行它；继续：selfheal task resume
